package secrets

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// A text with nothing but secrets gives as much as the contract allows, and every secret is
// redacted.
func TestManySecrets(t *testing.T) {
	for _, unit := range []string{"The password is Harbor4471Kite. ", "密码是四八二一。", "AKIAIOSFODNN7EXAMPLE ", "the pin is 4821, ", "password ", "4 8 2 1 ", "first half is 48 ", "abc:", "pin=", "'", "-"} {
		text := strings.Repeat(unit, (64<<10)/len(unit))
		ev := &abi.Event{ID: "pin/1/1", At: 1000, Speaker: "Tom", Wearer: "Mei", Text: text, Before: []abi.Turn{{Speaker: "Mei", Text: text}}}
		var out, back abi.Output
		if err := New().Extract(ev, &out); err != nil {
			t.Fatal(err)
		}
		if err := abi.DecodeOutput(abi.AppendOutput(nil, &out), abi.Limits{}, &back); err != nil {
			t.Errorf("%q…: %v", unit, err)
		}
		b := []byte(text)
		for _, r := range out.Redactions {
			if r.Span.Turn == 0 {
				copy(b[r.Span.Start:r.Span.End], strings.Repeat("#", r.Span.End-r.Span.Start))
			}
		}
		for _, s := range []string{"Harbor4471Kite", "四八二一", "AKIAIOSFODNN7EXAMPLE", "4821"} {
			if strings.Contains(unit, s) && strings.Contains(string(b), s) {
				t.Errorf("%q…: %q is still there", unit, s)
			}
		}
	}
}
