package intersect

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/cloudflare/circl/group"
)

// fromHex reads the values of a vector, one for each element of its batch.
func fromHex(t *testing.T, s string) (out [][]byte) {
	t.Helper()
	for part := range strings.SplitSeq(s, ",") {
		b, err := hex.DecodeString(part)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func toHex(list [][]byte) string {
	var out []string
	for _, b := range list {
		out = append(out, hex.EncodeToString(b))
	}
	return strings.Join(out, ",")
}

// TestRFC9497 runs the vectors of appendix A.1.2 (ristretto255-SHA512, VOPRF) through the functions
// that make offers and answers.
func TestRFC9497(t *testing.T) {
	raw, err := os.ReadFile("testdata/rfc9497-ristretto255-voprf.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		SkSm, PkSm string
		Vectors    []struct {
			Batch                                                   int
			Blind, BlindedElement, EvaluationElement, Input, Output string
			Proof                                                   struct{ Proof, R string }
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) != 3 {
		t.Fatalf("%d vectors, want the RFC's 3", len(file.Vectors))
	}
	number := func(b []byte) group.Scalar {
		s, err := readScalar(b)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	key := number(fromHex(t, file.SkSm)[0])
	public, err := readPoint(fromHex(t, file.PkSm)[0])
	if err != nil || !public.IsEqual(curve.NewElement().MulGen(key)) {
		t.Fatalf("public key: %v", err)
	}
	for i, v := range file.Vectors {
		inputs := fromHex(t, v.Input)
		var blinds []group.Scalar
		var blinded []group.Element
		var sent, direct [][]byte
		for j, b := range fromHex(t, v.Blind) {
			blinds = append(blinds, number(b))
			blinded = append(blinded, blind(inputs[j], blinds[j]))
			sent = append(sent, pointBytes(blinded[j]))
			direct = append(direct, output(key, inputs[j]))
		}
		if got := toHex(sent); got != v.BlindedElement || len(inputs) != v.Batch {
			t.Errorf("vector %d: blinded %s, want %s", i, got, v.BlindedElement)
		}
		ev := evaluateWith(key, blinded, number(fromHex(t, v.Proof.R)[0]))
		if got := toHex(ev.Elements); got != v.EvaluationElement {
			t.Errorf("vector %d: evaluated %s, want %s", i, got, v.EvaluationElement)
		}
		if got := hex.EncodeToString(ev.Proof); got != v.Proof.Proof {
			t.Errorf("vector %d: proof %s, want %s", i, got, v.Proof.Proof)
		}
		tags, err := finalize(public, inputs, blinds, blinded, &ev)
		if err != nil || toHex(tags) != v.Output {
			t.Errorf("vector %d: output %s, %v; want %s", i, toHex(tags), err, v.Output)
		}
		if got := toHex(direct); got != v.Output {
			t.Errorf("vector %d: output by the key alone %s, want %s", i, got, v.Output)
		}
		other := curve.NewElement().Dbl(public)
		if _, err := finalize(other, inputs, blinds, blinded, &ev); !errors.Is(err, ErrProof) {
			t.Errorf("vector %d under another key: %v, want ErrProof", i, err)
		}
	}
}

// TestRFC9496 has the invalid encodings of appendix A.2.
func TestRFC9496(t *testing.T) {
	for _, bad := range []string{
		"00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", // not canonical
		"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0100000000000000000000000000000000000000000000000000000000000000", // negative
		"01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371", // not a square
		"3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e", // negative xy
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // y is 0
	} {
		if e, err := readPoint(fromHex(t, bad)[0]); err == nil {
			t.Errorf("%s was read as %v", bad, e)
		}
	}
	if _, err := readPoints([][]byte{make([]byte, PointSize)}, 1); !errors.Is(err, ErrForm) {
		t.Errorf("the identity: %v, want ErrForm", err)
	}
}
