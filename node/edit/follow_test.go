package edit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Correcting the text of a memory also corrects the value of its slot and the
// object of its relation.
func TestValueFollowsText(t *testing.T) {
	n := nodetest.New(t, nil)
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer api.Close()
	ctx := t.Context()
	res, err := api.Add(ctx, serve.AddRequest{Text: "My brother Klaus lives in Hamburg"})
	if err != nil {
		t.Fatal(err)
	}
	var home memory.ID
	for _, c := range res.Changes {
		if m, err := api.Get(ctx, c.Memory.String()); err == nil && m.Slot != nil && m.Slot.Value == "Hamburg" {
			home = m.ID
		}
	}
	if home.IsZero() {
		t.Fatalf("%+v", res.Changes)
	}
	for _, tt := range []struct {
		why  string
		r    serve.UpdateRequest
		want string
	}{
		{"other words in its place", serve.UpdateRequest{Replace: &serve.Replacement{Old: "Hamburg", With: "Bonn"}}, "Bonn"},
		{"a text that says more", serve.UpdateRequest{Replace: &serve.Replacement{Old: "Klaus lives", With: "Klaus now lives"}}, "Bonn"},
		{"a value of its own", serve.UpdateRequest{Value: new("Mainz")}, "Mainz"},
		{"another text", serve.UpdateRequest{Text: new("He moved to Kiel, Klaus did")}, "Mainz"},
	} {
		m, err := api.Update(ctx, home.String(), tt.r)
		if err != nil || m.Slot == nil || m.Slot.Value != tt.want || m.Fields.Semantic.Object != tt.want {
			t.Errorf("%s: %+v, %+v, %v", tt.why, m.Slot, m.Fields.Semantic, err)
			continue
		}
		if names := fmt.Sprint(m.Entities); !strings.Contains(names, "Klaus") || !strings.Contains(names, tt.want) || strings.Contains(names, "Hamburg") {
			t.Errorf("%s: entities %s", tt.why, names)
		}
	}
}
