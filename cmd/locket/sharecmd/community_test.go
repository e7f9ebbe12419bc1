package sharecmd

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Two items of one member are shown under different ids.
func TestCommunityItemsHaveTheirOwnIDs(t *testing.T) {
	author := memory.MemberID{1, 2, 3}
	v := serve.CommunityView{Items: []serve.CommunityItem{{ID: author.LineID(memory.ID{15: 1 << 7}), Text: "one"}, {ID: author.LineID(memory.ID{9: 1}), Text: "two"}}}
	var out strings.Builder
	showCommunity((&cli.App{}), &out, &v)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	first, _, _ := strings.Cut(lines[len(lines)-1], " ")
	second, _, _ := strings.Cut(lines[len(lines)-2], " ")
	if first == second || !strings.Contains(v.Items[1].ID.String(), first) {
		t.Errorf("%q and %q of\n%s", first, second, out.String())
	}
}

// The output says who knows of one's own question, even if another's has a later date, or there is
// none.
func TestCommunityListsWhoKnows(t *testing.T) {
	v := serve.CommunityView{}
	if got := knows(new(cli.App), &v, "when"); !strings.Contains(got, "not shown") {
		t.Errorf("of none: %q", got)
	}
	v.Questions = []serve.CommunityQuestion{{CommunityItem: serve.CommunityItem{Text: "when", You: true}, Knows: "mine"}, {CommunityItem: serve.CommunityItem{Text: "when"}, Knows: "another's"}}
	if got := knows(new(cli.App), &v, "when"); got != "mine" {
		t.Errorf("%q", got)
	}
}
