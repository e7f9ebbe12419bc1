package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// Whether a line can end what the wearer said before depends on who says it. A line of
// somebody who can't know it ends nothing: both are shown, and the wearer is asked. A
// line of somebody who speaks about themselves, or of the wearer, ends it.
func TestThreatBystanderEndsMemory(t *testing.T) {
	n := running(t, nil)
	at := evening
	step := func() time.Time { at = at.Add(time.Hour); return at }
	for _, c := range []struct {
		first  string // said by the wearer
		by     string
		then   string
		holds  string // words of what the wearer said that is still true; "": it was ended
		review bool   // the wearer is asked
	}{
		{"I live in Ghent.", "Grace", "You moved to Lyon.", "Ghent", true},
		{"I live in Ghent.", "S1-a41f", "You live in Porto now.", "Ghent", true},
		{"I live in Ghent.", "Ana", "I moved to Lyon.", "", false},
		{"I like coffee.", "Grace", "You no longer like coffee.", "coffee", true},
		{"I like coffee.", "Grace", "Ana doesn't like coffee any more.", "coffee", true},
		{"I like coffee.", "Grace", "I don't like coffee any more.", "coffee", false},
		{"I like coffee.", "Ana", "I don't like coffee any more.", "", false},
		{"I'm allergic to nuts.", "S1-a41f", "You're not allergic to nuts.", "nuts", true},
		{"I work at Acme.", "Grace", "You were fired from Acme.", "Acme", true},
		{"Tom lives in Porto.", "S1-a41f", "Tom doesn't live in Porto any more.", "Porto", true},
		{"Tom lives in Porto.", "S1-a41f", "He doesn't live there any more.", "Porto", false},
		{"Tom lives in Porto.", "Tom", "I moved to Lyon.", "", false},
		{"I like coffee.", "Grace", "Forget that.", "coffee", false},
		{"我住在根特。", "Grace", "你搬到里昂了。", "根特", true},
		{"我住在根特。", "Ana", "我搬到里昂了。", "", false},
		{"我喜欢咖啡。", "S1-a41f", "你不喜欢咖啡了。", "咖啡", true},
		{"我喜欢咖啡。", "Ana", "我不喜欢咖啡了。", "", false},
		{"我对花生过敏。", "Grace", "你对花生不过敏。", "花生", true},
		{"我喜欢咖啡。", "Grace", "忘了吧。", "咖啡", false},
	} {
		t.Run(c.by+": "+c.then, func(t *testing.T) {
			clear := func() {
				var ids []memory.ID
				for _, m := range semantic(t, n) {
					ids = append(ids, m.ID)
				}
				for _, id := range ids {
					if err := n.Delete(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
			}
			defer clear()
			hear(t, n, step(), "Ana", c.first)
			said := semantic(t, n)
			if len(said) == 0 {
				t.Fatalf("nothing was made of %q", c.first)
			}
			hear(t, n, step(), c.by, c.then)
			stands := func() bool {
				now := semantic(t, n)
				return slices.ContainsFunc(said, func(was *memory.Memory) bool {
					return slices.ContainsFunc(now, func(m *memory.Memory) bool {
						return m.ID == was.ID && m.State == memory.Active && (c.holds == "" || strings.Contains(m.Text, c.holds))
					})
				})
			}
			if stands() != (c.holds != "") {
				for _, m := range semantic(t, n) {
					t.Logf("%s %q %+v %v", m.State, m.Text, m.Slot, m.Tags)
				}
				t.Fatalf("it still holds: %t", stands())
			}
			open, err := n.Conflicts(t.Context())
			if err != nil || len(open) > 0 != c.review {
				t.Fatalf("to review: %+v, %v", open, err)
			}
			if !c.review {
				return
			}
			if len(open) != 1 || len(open[0].Sides) != 2 || !strings.Contains(open[0].Sides[0].Text, c.holds) {
				t.Fatalf("%+v", open)
			}
			other := open[0].Sides[1].Memory
			if _, err := n.Settle(t.Context(), open[0].ID, serve.SettleRequest{Choose: 2}); err != nil { // the bystander was right
				t.Fatal(err)
			}
			if open, err = n.Conflicts(t.Context()); err != nil || len(open) > 0 || stands() {
				t.Errorf("after the wearer chose %s: it stands: %t, %+v, %v", other, stands(), open, err)
			}
		})
	}
}

// semantic returns the facts that are not erased.
func semantic(t *testing.T, n *Node) (out []*memory.Memory) {
	t.Helper()
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Semantic}}) {
			if err != nil {
				return err
			}
			if m.State != memory.Erased {
				out = append(out, m)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
