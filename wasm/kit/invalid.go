package kit

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

// bad is input that is not an event.
type bad struct {
	name string
	b    []byte
	// must: a plugin has to answer with an error; otherwise it would take half an event, or one of
	// another contract, for a complete one. Input that merely has another form than a host writes
	// may be accepted.
	must bool
}

func (r *run) malformed(ctx context.Context) (string, error) {
	const advice = "Check every length against what is left, and answer with an error (docs/wasm.md, Error codes)."
	e := &abi.Event{ID: "kit/1/1", Kind: r.manifest.Kinds[0], At: noon, Text: "Remember that é is two bytes.", Wearer: "Ana"}
	list := badInputs(e)
	lenient := 0
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		good := abi.AppendEvent(nil, e)
		want, _, err := p.Raw(ctx, e, good)
		if err != nil {
			return failf(faultAdvice(err), "a good event: %v", err)
		}
		for _, m := range list {
			got, _, err := p.Raw(ctx, e, m.b)
			switch {
			case err != nil:
				return failf(advice, "%s: %v", m.name, err)
			case got.Failed:
				if _, _, err := abi.DecodeError(got.Bytes); err != nil {
					return failf(`An error is a map of 1 code and 2 text, at most 1 KiB: a2 01 04 02 62 6e 6f.`, "%s: its error can't be read: %v", m.name, err)
				}
			case m.must:
				return failf(advice, "%s: it was taken for an event: %s", m.name, show(got))
			default:
				lenient++
			}
		}
		got, _, err := p.Raw(ctx, e, good)
		if err != nil || got.Failed != want.Failed || !bytes.Equal(got.Bytes, want.Bytes) {
			return failf("What a call leaves behind must not show in the next.", "after bad input the answer to a good event differs: %s, %v", show(got), err)
		}
		return nil
	})
	detail := fmt.Sprintf("%d of %d refused", len(list)-lenient, len(list))
	if lenient > 0 {
		detail += "; the rest can pass for events"
	}
	return detail, err
}

// badInputs makes bad input from a good event of at most 23 fields, with a text.
func badInputs(e *abi.Event) []bad {
	good := abi.AppendEvent(nil, e)
	var list []bad
	for i := range good {
		list = append(list, bad{fmt.Sprintf("an event cut to %d of %d bytes", i, len(good)), good[:i], true})
	}
	more := func(tail string) []byte { // adds a field
		b := append(bytes.Clone(good), tail...)
		b[0]++
		return b
	}
	list = append(list,
		bad{"a byte after the event", append(bytes.Clone(good), 0), true},
		bad{"two events", append(bytes.Clone(good), good...), true},
		bad{"zeros", make([]byte, 64), true},
		bad{"a list", []byte("\x82\x00\x01"), true},
		bad{"a text", []byte("\x65hello"), true},
		bad{"JSON", []byte(`{"kind":"text","text":"hello"}`), true},
		bad{"no version", []byte("\xa1\x02\x64text"), true},
		bad{"version 2", []byte("\xa2\x00\x02\x02\x64text"), true},
		bad{"a text as version", []byte("\xa2\x00\x611\x02\x64text"), true},
		bad{"a number as kind", []byte("\xa2\x00\x01\x02\x18\x2a"), true},
		bad{"a number as text", []byte("\xa3\x00\x01\x02\x64text\x08\x18\x2a"), true},
		bad{"a text key", more("\x61a\x01"), true},
		bad{"a text of 2^64 bytes", []byte("\xa2\x00\x01\x08\x7b\xff\xff\xff\xff\xff\xff\xff\xff"), true},
		bad{"a text of 2^32 bytes", []byte("\xa2\x00\x01\x08\x7b\x00\x00\x00\x01\x00\x00\x00\x00"), true},
		bad{"a text of 2^31 bytes", []byte("\xa2\x00\x01\x08\x7a\x80\x00\x00\x00"), true},
		bad{"bytes of 2^32-1", []byte("\xa2\x00\x01\x09\x5a\xff\xff\xff\xff"), true},
		bad{"a map of 2^64 pairs", []byte("\xbb\xff\xff\xff\xff\xff\xff\xff\xff"), true},
		bad{"an unknown list of 2^63 elements", more("\x18\x30\x9b\x7f\xff\xff\xff\xff\xff\xff\xff"), true},
		bad{"an unknown map that ends early", more("\x18\x30\xa2\x01\x02"), true},
		bad{"100,000 nested lists", more("\x18\x30" + strings.Repeat("\x81", 100_000) + "\x00"), false},
		bad{"a map of indefinite length", append(append([]byte{0xbf}, good[1:]...), 0xff), false},
		bad{"a text of indefinite length", []byte("\xa2\x00\x01\x02\x7f\x62te\x62xt\xff"), false},
		bad{"a tag", append([]byte{0xc1}, good...), false},
		bad{"a number in more bytes than it needs", []byte("\xa2\x00\x18\x01\x02\x64text"), false},
		bad{"a key twice", more("\x00\x01"), false},
		bad{"a text that is not UTF-8", []byte("\xa3\x00\x01\x02\x64text\x08\x62\xff\xfe"), false},
		bad{"a reserved head", []byte("\xa2\x00\x01\x02\x7c"), true},
	)
	// What a broken line or host could make of an event: any one byte is changed. If the result is
	// still an event, it may be accepted.
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1500 {
		b := bytes.Clone(good)
		i, v := rng.IntN(len(b)), byte(1+rng.IntN(255))
		b[i] ^= v
		list = append(list, bad{fmt.Sprintf("an event with byte %d changed to %#x", i, b[i]), b, false})
	}
	return list
}
