#!/usr/bin/env python3
"""Train the project's own language model: the GPT-OSS architecture, some 300,000 parameters, text of train_corpus.py.

    python3 -m venv build/venv-train && build/venv-train/bin/pip install -r scripts/requirements-train.txt
    build/venv-train/bin/python scripts/train_model.py --out models/serrano-300k

Writes what `poblano run` reads (config.json, model.safetensors in BF16, vocab.json), outputs of the trained weights by
the reference implementation (reference.safetensors: tokens, hidden0.., logits, float32), held-out questions
(sums.tsv, stories.tsv: prompt, tab, answer) and train.log. Training only: nothing else in the project needs PyTorch.
"""
import argparse
import io
import json
import math
import pathlib
import random
import time

import sentencepiece
import torch
from safetensors.torch import save_file
from transformers import GptOssConfig, GptOssForCausalLM

import train_corpus as corpus

VOCABULARY, LENGTH, BOS, EOS = 320, 96, 1, 2
REFERENCE = "Once upon a time, there was a small cat. 48 + 37 ="


def make_tokenizer(texts):
    """SentencePiece BPE on bytes and digits of their own -> (processor, [{piece, score}])."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=model, vocab_size=VOCABULARY, model_type="bpe", byte_fallback=True,
        split_digits=True, character_coverage=1.0, remove_extra_whitespaces=False, normalization_rule_name="identity",
        unk_id=0, bos_id=BOS, eos_id=EOS, pad_id=-1, num_threads=1, minloglevel=2)
    words = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [{"piece": words.id_to_piece(i).replace("\u2581", " "), "score": words.get_score(i)} for i in range(words.vocab_size())]
    return words, pieces


def make_model():
    """The architecture: everything of GPT-OSS, small; widths are multiples of a block of 32."""
    return GptOssForCausalLM(GptOssConfig(
        num_hidden_layers=4, hidden_size=64, intermediate_size=32, num_local_experts=6, num_experts_per_tok=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32, vocab_size=VOCABULARY, sliding_window=32,
        max_position_embeddings=256, rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, bos_token_id=BOS,
        eos_token_id=EOS, pad_token_id=None, tie_word_embeddings=False, router_aux_loss_coef=0.01,
        output_router_logits=True, initializer_range=0.05, attn_implementation="eager"))


def batches(words, seed, size):
    """Endless rows of LENGTH tokens: documents one behind the other, each begun and ended."""
    rng = random.Random(seed)
    while True:
        rows = []
        for _ in range(size):
            row = []
            while len(row) < LENGTH:
                row += [BOS, *words.encode(corpus.document(rng)), EOS]
            rows.append(row[:LENGTH])
        yield torch.tensor(rows)


def train(model, words, args, log):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, betas=(0.9, 0.98), weight_decay=0.01)
    warm = lambda step: min(1, step / 200) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1, step / args.steps))))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warm)
    data, start, losses = batches(words, args.seed, args.batch), time.time(), []
    model.train()
    for step in range(1, args.steps + 1):
        tokens = next(data)
        loss = model(tokens, labels=tokens).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % args.every == 0:
            right = accuracy(model, words, corpus.questions(args.seed + 1, 200, corpus.sum_line))
            log(f"step {step}: loss {sum(losses) / len(losses):.4f}, held-out sums {100 * right:.1f} %, {time.time() - start:.0f} s")
            losses = []


@torch.no_grad()
def accuracy(model, words, questions):
    """The part of the questions whose answer is the greedy continuation. Prompts of one length run together."""
    model.eval()
    by_length, right = {}, 0
    for prompt, answer in questions:
        tokens = [BOS, *words.encode(prompt)]
        want = [BOS, *words.encode(prompt + answer)][len(tokens):]
        by_length.setdefault((len(tokens), len(want)), []).append((tokens, want))
    for (_, length), group in by_length.items():
        tokens = torch.tensor([t for t, _ in group])
        for _ in range(length):
            tokens = torch.cat([tokens, model(tokens).logits[:, -1:].argmax(-1)], dim=1)
        right += (tokens[:, -length:] == torch.tensor([w for _, w in group])).all(1).sum().item()
    model.train()
    return right / len(questions)


@torch.no_grad()
def write(model, words, pieces, args, log):
    out = args.out
    model.eval()
    for p in model.parameters():  # what is stored is what is judged
        p.copy_(p.to(torch.bfloat16).float())
    for name, kind, count in (("sums", corpus.sum_line, 500), ("stories", corpus.sum_story, 200)):
        questions = corpus.questions(args.seed + 2, count, kind)
        (out / f"{name}.tsv").write_text("".join(f"{p}\t{a}\n" for p, a in questions))
        log(f"{name}: {100 * accuracy(model, words, questions):.1f} % of {count} held-out questions right, weights in BF16")
    tokens = torch.tensor([[BOS, *words.encode(REFERENCE)]])
    for _ in range(48):
        tokens = torch.cat([tokens, model(tokens).logits[:, -1:].argmax(-1)], dim=1)
    run = model(tokens, output_hidden_states=True)
    reference = {"tokens": tokens[0].to(torch.int32), "logits": run.logits[0].contiguous()}
    for i, hidden in enumerate(run.hidden_states):
        reference[f"hidden{i}"] = hidden[0].contiguous().clone()
    save_file(reference, out / "reference.safetensors")
    save_file({k: v.to(torch.bfloat16).contiguous() for k, v in model.state_dict().items()}, out / "model.safetensors")
    model.config.to_json_file(out / "config.json")
    (out / "vocab.json").write_text(json.dumps(pieces, ensure_ascii=False, indent=0) + "\n")
    log(f"reference: {words.decode(tokens[0].tolist())!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=500, help="steps between lines of the log")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(2)  # sums in one order
    torch.manual_seed(args.seed)
    torch.use_deterministic_algorithms(True)
    lines = [f"train_model.py --steps {args.steps} --batch {args.batch} --rate {args.rate} --seed {args.seed}; torch {torch.__version__}"]

    def log(line):
        lines.append(line)
        (args.out / "train.log").write_text("\n".join(lines) + "\n")
        print(line, flush=True)

    rng = random.Random(args.seed)
    words, pieces = make_tokenizer([corpus.document(rng) for _ in range(20000)])
    model = make_model()
    log(f"{sum(p.numel() for p in model.parameters())} parameters, {len(pieces)} pieces")
    train(model, words, args, log)
    write(model, words, pieces, args, log)


if __name__ == "__main__":
    main()
