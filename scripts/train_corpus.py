"""The text that the project's own model learns: sums, stories with sums in them, and stories without.

All of it is made here from a seed. One pair of numbers in ten is held out: neither sums nor stories of the training text
add those two numbers.
"""
import random
import zlib

NAMES = {"Lily": "her", "Tom": "him", "Anna": "her", "Ben": "him", "Mia": "her", "Sam": "him", "Zoe": "her", "Max": "him"}
THINGS = ["apples", "pears", "shells", "stones", "books", "cards", "beans", "peppers", "cakes", "balls"]
ANIMALS = ["cat", "dog", "bird", "frog", "fox", "mouse"]
LOOKS = ["small", "big", "red", "green", "old", "happy", "sad", "quick"]
PLACES = ["park", "garden", "forest", "house", "river", "hill"]
ACTIONS = ["saw", "found", "liked", "wanted", "took", "lost"]
ENDINGS = ["{They} went home and slept.", "Then it was night.", "{They} was very happy.", "It was a good day.",
           "{They} said, \"Thank you.\"", "The sun was warm."]
MAX_NUMBER = 99


def held_out(a, b):
    """Whether the sum of these two is kept from the training text: one pair in ten, the same in both orders."""
    return zlib.crc32(f"{min(a, b)} {max(a, b)}".encode()) % 10 == 0


def pair(rng, kept_back):
    """Two numbers from 0 to MAX_NUMBER, held out or not as asked."""
    while True:
        a, b = rng.randint(0, MAX_NUMBER), rng.randint(0, MAX_NUMBER)
        if held_out(a, b) == kept_back:
            return a, b


def sum_line(rng, kept_back=False):
    """-> (prompt, answer): '12 + 34 =', ' 46.'"""
    a, b = pair(rng, kept_back)
    return f"{a} + {b} =", f" {a + b}."


def sum_story(rng, kept_back=False):
    """-> (prompt, answer): one gives the other some more; in half of the training text the sum is spelt out between."""
    a, b = pair(rng, kept_back)
    name, other = rng.sample(sorted(NAMES), 2)
    thing = rng.choice(THINGS)
    spelt = f" {a} + {b} = {a + b}." if not kept_back and rng.random() < 0.5 else ""
    return f"{name} has {a} {thing}. {other} gives {NAMES[name]} {b} more.{spelt} Now {name} has", f" {a + b} {thing}."


def story(rng):
    """Two to five sentences about an animal or a child."""
    animal, look, place = rng.choice(ANIMALS), rng.choice(LOOKS), rng.choice(PLACES)
    name = rng.choice(sorted(NAMES))
    child = rng.random() < 0.5
    they = ("She" if NAMES[name] == "her" else "He") if child else "It"
    first = f"One day, {name} went to the {place}." if child else f"Once upon a time, there was a {look} {animal}."
    middle = [f"{they} {rng.choice(ACTIONS)} a {rng.choice(LOOKS)} {rng.choice(ANIMALS)} in the {rng.choice(PLACES)}."
              for _ in range(rng.randint(1, 3))]
    return " ".join([first, *middle, rng.choice(ENDINGS).format(They=they)])


def document(rng):
    """One text of the training."""
    kind = rng.random()
    if kind < 0.55:
        return "".join(sum_line(rng))
    if kind < 0.8:
        return "".join(sum_story(rng))
    return story(rng)


def questions(seed, count, kind):
    """-> [(prompt, answer)] of held-out pairs, all different; kind: sum_line or sum_story."""
    rng, found = random.Random(seed), {}
    while len(found) < count:
        prompt, answer = kind(rng, kept_back=True)
        found[prompt] = answer
    return list(found.items())
