"""Encoding and decoding: exact on canonical text, harmless on any other."""

from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("tokenizers", reason="needs the extra train")

from hypothesis import given
from hypothesis import strategies as st

from maxproof.lab.teacher import TeacherSettings, corpus
from maxproof.problems import InputError
from maxproof.training.tokenizer import LARGEST, SMALLEST, SPECIAL, Tokenizer, build_tokenizer

WORDS = (
    "Compute",
    "modulo",
    "So",
    "Therefore",
    "the",
    "answer",
    "is",
    "Step",
    "Verification",
    "sum_of_squares",
    "by",
    "it's",
)
TOKENIZER = build_tokenizer([" ".join(WORDS)])


@pytest.mark.parametrize(
    "text",
    [
        "Compute (3 * 5 + 4) * 2 modulo 7.",
        "3 * 5 = 1 (modulo 7).\nSo -3 x = 6, x^2 - 6 x + 10 >= 1.",
        "x = -3/4. Therefore the answer is -3/4.",
        "1 : x = 3/4. 2 : So",
        "Step 3: (x - 3)^2 + 1 >= 0.",
        "So\n### Verification\nthe answer is 3.",
        "by sum_of_squares ; is 3",
        "1 + 2 + ... + 9 = 45",
        "3 / 4",
        "1234 + -345 = 889, 200, -100, 007",
        "-x + 3 = -(x - 3)",
        "it's  3",
        "",
    ],
)
def test_canonical_text_comes_back(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text
    assert TOKENIZER.unknown not in TOKENIZER.encode(text)


def test_the_taught_corpus_comes_back_without_an_unknown_word() -> None:
    examples = list(islice(corpus(TeacherSettings(), 11), 80))
    tokenizer = build_tokenizer(text for example in examples for text in (example.prompt, example.answer))
    for example in examples:
        answer, prompt = tokenizer.encode(example.answer), tokenizer.encode_prompt(example.prompt)
        assert tokenizer.decode(answer) == example.answer
        assert tokenizer.decode(prompt, special=True) == example.prompt
        assert tokenizer.unknown not in (*answer, *prompt)


number = st.one_of(st.integers(SMALLEST, LARGEST), st.integers(-100_000, 100_000)).map(str)
atom = st.one_of(number, st.sampled_from(["x", "y", "k", "3/4", "-1/2", "x^2", "y^3"]))
operator = st.sampled_from(["+", "-", "*", "=", ">=", "<=", "<"])


@st.composite
def expressions(draw: st.DrawFn) -> str:
    text = draw(atom)
    for _ in range(draw(st.integers(0, 4))):
        text = f"{text} {draw(operator)} {draw(atom)}"
        if draw(st.booleans()):
            text = f"({text})"
    return text


@st.composite
def canonical(draw: st.DrawFn) -> str:
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        parts = draw(st.lists(st.one_of(st.sampled_from(WORDS), expressions()), min_size=1, max_size=6))
        glued = [part + draw(st.sampled_from(["", "", ",", ":"])) for part in parts]
        lines.append(" ".join(glued) + draw(st.sampled_from([".", "?", ""])))
    return "\n".join(lines)


@given(canonical())
def test_any_canonical_text_comes_back(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(st.text(max_size=200))
def test_any_text_is_encoded_and_what_comes_back_is_stable(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert all(index >= len(SPECIAL) or index == TOKENIZER.unknown for index in ids)
    once = TOKENIZER.decode(ids)
    assert "\r" not in once


@pytest.mark.parametrize("value", [SMALLEST, -1, 0, 7, 99, LARGEST])
def test_small_integers_are_one_token(value: int) -> None:
    assert len(TOKENIZER.encode(str(value))) == 1
    assert len(TOKENIZER.encode(f"x = {value}.")) == 4


def test_binary_minus_is_no_sign() -> None:
    tokens = [TOKENIZER.token(index) for index in TOKENIZER.encode("x - 3 = x -3 = 5-2")]
    assert tokens == ["x", "-", "3", "=", "x", "-3", "=", "5", "-", "2"]


def test_special_tokens_are_special_only_in_prompts() -> None:
    text = "<prove> Compute 3 <sep> <end>"
    assert not set(TOKENIZER.encode(text)) & {0, *range(2, len(SPECIAL))}
    tokens = [TOKENIZER.token(index) for index in TOKENIZER.encode_prompt(text)]
    assert tokens == ["<prove>", "Compute", "3", "<sep>", "<end>"]
    assert [TOKENIZER.token(index) for index in TOKENIZER.encode_prompt("So <nl> So")] == ["So", "\n", "So"]


def test_batches_encode_alike() -> None:
    texts = ["Compute 3 modulo 7.", "<sep> So <nl> x"]
    assert TOKENIZER.encode_batch(texts) == [TOKENIZER.encode(text) for text in texts]
    assert TOKENIZER.encode_batch(texts, prompts=True) == [TOKENIZER.encode_prompt(text) for text in texts]


def test_decoding_leaves_special_tokens_out_unless_asked() -> None:
    ids = TOKENIZER.encode_prompt("So <end>")
    assert TOKENIZER.decode(ids) == "So"
    assert TOKENIZER.decode(ids, special=True) == "So <end>"
    assert TOKENIZER.decode([10**6]) == ""


def test_unknown_words_are_unknown() -> None:
    assert TOKENIZER.decode(TOKENIZER.encode("x = Hamburgefonts 3")) == "x = <unk> 3"
    assert TOKENIZER.encode("Compute Hamburgefonts") == [TOKENIZER.encode("Compute")[0], TOKENIZER.unknown]


def test_building_is_deterministic_and_skips_special_names() -> None:
    texts = ["So <prove> the answer", "the the it's"]
    assert build_tokenizer(texts).to_json() == build_tokenizer(reversed(texts)).to_json()
    assert build_tokenizer(["<prove>"]).encode("prove") == [TOKENIZER.unknown]
    frequent = build_tokenizer(["rare the the So So"], limit=2)
    assert frequent.encode("rare") == [frequent.unknown]
    assert frequent.unknown not in frequent.encode("the So")


def test_the_file_loads_in_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the extra hf")
    (tmp_path / "tokenizer.json").write_text(TOKENIZER.to_json(), encoding="utf-8")
    theirs = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path / "tokenizer.json"), pad_token="<pad>", unk_token="<unk>", eos_token="<end>"
    )
    text = "<prove> Compute (x - 3)^2 modulo 7. <sep>"
    assert theirs(text)["input_ids"] == TOKENIZER.encode_prompt(text)
    assert theirs.decode(TOKENIZER.encode("x = -3/4.\nSo")) == "x = -3/4.\nSo"
    assert (theirs.pad_token_id, theirs.eos_token_id) == (TOKENIZER.pad, TOKENIZER.end)


@pytest.mark.parametrize("content", ["", "{}", "[" * 100_000, '{"model": {"type": "BPE", "vocab": {}, "merges": []}}'])
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"tokenizer\.json: "):
        Tokenizer.from_file(path)
    with pytest.raises(InputError, match="can't be read"):
        Tokenizer.from_file(tmp_path / "absent.json")
