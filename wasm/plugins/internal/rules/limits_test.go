package rules

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
)

// Text of any length and with any repetition gives an output that decodes, as the contract
// requires.
func TestLongText(t *testing.T) {
	for _, unit := range []string{
		"a", "一", ". ", "I like ", "I like tea. ", "My name is Mei", "I have a dentist appointment on Friday at 3pm, and ", "first you push it, then you pull it. ",
		"Bob Bob Bob ", "我喜欢茶，", "最后", "the the the ", "where is my key? it's in the drawer. ", "I'm seeing the vet on Friday at three. ", "\n1. push it\n2. pull it", "'s ", "周五周五",
	} {
		text := strings.Repeat(unit, (64<<10)/len(unit))
		ev := &abi.Event{At: monday.Unix(), Offset: monday.Offset, Speaker: "Tom", Wearer: "Mei", Text: text}
		for range abi.MaxBefore {
			ev.Before = append(ev.Before, abi.Turn{At: monday.Unix() - 1000, Speaker: "Mei", Text: text})
		}
		for _, part := range [...]discourse.Part{discourse.Facts, discourse.Plans, discourse.HowTo} {
			var out, back abi.Output
			Extract(ev, &out, part)
			if err := abi.DecodeOutput(abi.AppendOutput(nil, &out), abi.Limits{}, &back); err != nil {
				t.Errorf("%.20q…: %v", text, err)
			}
			ev.State = out.State
			Extract(ev, &out, part)
		}
	}
}

// A refusal of a text that is nothing but asides names a part of the text.
func TestOnlyAnAside(t *testing.T) {
	out := checked(t, &abi.Event{At: monday.Unix(), Offset: monday.Offset, Speaker: "Tom", Wearer: "Mei", Text: "，哎呀，"})
	if len(out.Refusals) != 1 {
		t.Errorf("%+v", out.Refusals)
	}
}
