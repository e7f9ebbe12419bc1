package homecmd

import (
	"reflect"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestFoldRefusals(t *testing.T) {
	photo := func(n string) memory.Refusal {
		return memory.Refusal{Kind: "duplicate", Reason: "shows what photo glasses/1/" + n + " shows"}
	}
	asked, filler := memory.Refusal{Kind: "question", Reason: "asks"}, memory.Refusal{Kind: "filler", Reason: "asks"}
	got := foldRefusals([]memory.Refusal{photo("12"), asked, photo("4"), filler, asked, photo("130")})
	if want := []alike{{Refusal: photo("12"), count: 3}, {Refusal: asked, count: 2}, {Refusal: filler, count: 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
