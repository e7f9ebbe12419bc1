package transfer_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// A client that reads an export slowly holds up nobody: meanwhile the wearer forgets
// something, for which the store is rewritten, and what is forgotten is not in the rest of
// the export.
func TestSlowExport(t *testing.T) {
	n := nodetest.New(t, nodetest.Cheap)
	var ids []memory.ID
	no := false
	for i := range 25 {
		res, err := n.Add(t.Context(), serve.AddRequest{Infer: &no, Type: memory.Semantic, Text: fmt.Sprintf("Tree %d. ", i) + strings.Repeat("It is tall. ", 5000)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, res.Changes[0].Memory)
	}
	var got []memory.ID
	for r, err := range n.Export(t.Context(), serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != archive.KindAssertion {
			continue
		}
		var a archive.Assertion
		if err := json.Unmarshal(r.Data, &a); err != nil {
			t.Fatal(err)
		}
		if got = append(got, a.Memory); len(got) > 1 {
			continue
		}
		plan, err := n.PlanForget(t.Context(), serve.ForgetSelection{IDs: ids[24:]})
		if err == nil {
			_, err = n.Forget(t.Context(), plan)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range ids[:24] {
		if !slices.Contains(got, id) {
			t.Errorf("memory %d is missing", i)
		}
	}
	if after, _ := exportOf(t, n, serve.ExportOptions{}); len(got) != 24 || slices.Contains(got, ids[24]) {
		t.Errorf("%d assertions, and %d records of an export afterwards", len(got), len(after))
	}
}
