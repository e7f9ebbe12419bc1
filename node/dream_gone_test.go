package node

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/node/serve"
)

// A plan that was shown, but not carried out, keeps no words of what is
// forgotten after it.
func TestForgettingCleansDreamPlans(t *testing.T) {
	n := keyed(t, nil)
	at := time.Now().AddDate(0, 0, -3)
	propose(t, n, memory.Semantic, "The boiler is serviced by Quintavius every autumn", at)
	propose(t, n, memory.Semantic, "The boiler is serviced every autumn by Quintavius", at.Add(time.Hour))
	for i := range 20 {
		propose(t, n, memory.Semantic, "The shelf holds jar "+strings.Repeat("i", i+1), at.Add(time.Duration(i)*time.Minute))
	}
	plan, err := n.PlanDream(t.Context())
	if err != nil || len(plan.Steps) == 0 || !strings.Contains(plan.Steps[0].Text, "Quintavius") {
		t.Fatalf("%+v, %v", plan, err)
	}
	confirm(t, n, serve.ForgetSelection{Query: "quintavius"})
	if r := dig(t, n, "Quintavius"); len(r.Finds) > 0 {
		t.Errorf("a plan keeps it: %v", r.Finds)
	}
}

// A credential that a dream moves to the vault is in no other file, and the
// plan does not show it.
func TestDreamRemovesCredentials(t *testing.T) {
	const secret = "Xq7-pine-Tr0ut-88"
	n := keyed(t, nil)
	at := time.Now().AddDate(0, 0, -1)
	propose(t, n, memory.Semantic, "The wifi password is "+secret, at)
	for i := range 20 {
		propose(t, n, memory.Semantic, "The shelf holds jar "+strings.Repeat("i", i+1), at.Add(time.Duration(i)*time.Minute))
	}
	plan, err := n.PlanDream(t.Context())
	if err != nil || len(plan.Steps) == 0 || plan.Steps[0].Kind != consolidate.Scrub {
		t.Fatalf("%+v, %v", plan, err)
	}
	if s := plan.Steps[0].Text; strings.Contains(s, secret) {
		t.Errorf("the plan shows %q", s)
	}
	if _, err := n.ApplyDream(t.Context(), plan.ID); err != nil {
		t.Fatal(err)
	}
	if r := dig(t, n, secret); len(r.Finds) > 0 {
		t.Errorf("still there: %v", r.Finds)
	}
}
