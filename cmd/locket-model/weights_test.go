//go:build !386 && !arm

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The weights that the tests make: a table of directions for words, and a judge that counts the
// words that both sides share. They know nothing about language. They show that folders are read,
// that texts go through the tokenizer and the graph, and that numbers come out.

// words of the made-up tokenizer, after its four special tokens.
var words = []string{"the", "a", "bike", "is", "blue", "green", "ann", "likes", "tea", "rain", "in", "ghent", "tomatoes", "want", "water", "who", "what", "colour"}

const dim = 16

// message is a protocol buffer that is being built.
type message []byte

func (m message) text(n protowire.Number, s string) message { return m.bytes(n, []byte(s)) }

func (m message) bytes(n protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, n, protowire.BytesType), b)
}

func (m message) int(n protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, n, protowire.VarintType), uint64(v))
}

// The field numbers are those of onnx.proto (onnx v1.16).

func node(op string, inputs []string, output string, attributes ...message) message {
	var m message
	for _, in := range inputs {
		m = m.text(1, in)
	}
	m = m.text(2, output).text(3, output).text(4, op)
	for _, a := range attributes {
		m = m.bytes(5, a)
	}
	return m
}

func attribute(name string, v int64) message { return message{}.text(1, name).int(3, v).int(20, 2) }

// axis is the attribute of a reduction that names its dimension.
func axis(v int64) message { return message{}.text(1, "axes").int(8, v).int(20, 7) }

func floats(name string, dims []int64, v []float32) message {
	var m message
	for _, d := range dims {
		m = m.int(1, d)
	}
	raw := make([]byte, 0, 4*len(v))
	for _, f := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
	}
	return m.int(2, 1).text(8, name).bytes(9, raw)
}

// value is an input or output; a dimension is a number or a name.
func value(name string, kind int64, dims ...any) message {
	var shape message
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			shape = shape.bytes(1, message{}.int(1, int64(d)))
		case string:
			shape = shape.bytes(1, message{}.text(2, d))
		}
	}
	return message{}.text(1, name).bytes(2, message{}.bytes(1, message{}.int(1, kind).bytes(2, shape)))
}

func model(nodes, initializers, inputs, outputs []message) message {
	var g message
	for _, n := range nodes {
		g = g.bytes(1, n)
	}
	g = g.text(2, "made")
	for _, i := range initializers {
		g = g.bytes(5, i)
	}
	for _, i := range inputs {
		g = g.bytes(11, i)
	}
	for _, o := range outputs {
		g = g.bytes(12, o)
	}
	return message{}.int(1, 8).bytes(7, g).bytes(8, message{}.text(1, "").int(2, 13))
}

// inputs are the inputs of BERT.
func inputs() []message {
	const int64s = 7
	return []message{value("input_ids", int64s, "batch", "sequence"), value("attention_mask", int64s, "batch", "sequence")}
}

// embedder gives each word its own direction.
func embedder() message {
	vocabulary := int64(len(words) + 4)
	table := make([]float32, 0, vocabulary*dim)
	for w := range vocabulary {
		for d := range dim {
			if w < 4 {
				table = append(table, 0) // the special tokens mean nothing
				continue
			}
			h := sha256.Sum256([]byte{byte(w), byte(d)})
			table = append(table, float32(int32(binary.LittleEndian.Uint32(h[:])))/math.MaxInt32)
		}
	}
	return model(
		[]message{node("Gather", []string{"table", "input_ids"}, "last_hidden_state")},
		[]message{floats("table", []int64{vocabulary, dim}, table)},
		inputs(), []message{value("last_hidden_state", 1, "batch", "sequence", dim)})
}

// judge returns the mean of the squares of each word's share in the question and the text together.
// It is larger if they share more words.
func judge() message {
	vocabulary := int64(len(words) + 4)
	one := make([]float32, vocabulary*vocabulary)
	for w := int64(4); w < vocabulary; w++ {
		one[w*vocabulary+w] = 30
	}
	return model(
		[]message{
			node("Gather", []string{"one", "input_ids"}, "hot"),
			node("ReduceMean", []string{"hot"}, "shares", axis(1), attribute("keepdims", 0)),
			node("Mul", []string{"shares", "shares"}, "squares"),
			node("ReduceMean", []string{"squares"}, "logits", axis(1), attribute("keepdims", 1)),
		},
		[]message{floats("one", []int64{vocabulary, vocabulary}, one)},
		inputs(), []message{value("logits", 1, "batch", 1)})
}

// folder writes a model in the layout of Hugging Face.
func folder(t *testing.T, name string, onnx message) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	vocabulary := map[string]int{"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
	for i, w := range words {
		vocabulary[w] = i + 4
	}
	var added []any
	for i, s := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"} {
		added = append(added, map[string]any{"id": i, "content": s, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
	}
	for file, v := range map[string]any{
		"tokenizer.json": map[string]any{
			"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
			"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
			"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
			"post_processor": map[string]any{"type": "BertProcessing", "sep": []any{"[SEP]", 3}, "cls": []any{"[CLS]", 2}},
			"decoder":        map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true},
			"model":          map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
		},
		"config.json":             map[string]any{"max_position_embeddings": 64, "pad_token_id": 0},
		"special_tokens_map.json": map[string]any{"sep_token": "[SEP]", "cls_token": "[CLS]", "pad_token": "[PAD]", "unk_token": "[UNK]"},
	} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "model.onnx"), onnx, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
