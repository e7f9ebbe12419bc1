package node_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

const gardenOnly = `@id("the garden")
permit (principal == Reader::"Ann", action == Action::"share", resource) when { resource.tags.contains("garden") };
@id("apps read facts")
permit (principal is App, action == Action::"read", resource) when { resource.type == "semantic" };
@id("not Zuzana")
forbid (principal, action, resource) when { resource.tags.contains("zuzana") };
`

// One policy decides for shares and apps, is synced as the owner's statement, takes back
// what it no longer permits, and says in advance what it opens and closes.
func TestPolicyDecidesForAll(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 71)
	ctx := t.Context()
	d.init()
	c := serve.InProcess(serve.New(serve.Options{Services: d.Services()}))
	defer c.Close()
	no := false
	add := func(text string, tags ...string) {
		t.Helper()
		if _, err := c.Add(ctx, serve.AddRequest{Text: text, Infer: &no, Tags: tags}); err != nil {
			t.Fatal(err)
		}
	}
	add("The tomatoes are ripe.", "garden")
	add("Zuzana waters the tomatoes.", "garden", "zuzana")
	add("The rent is due on Friday.", "money")

	reader := &share.Reader{Dir: t.TempDir(), Reserve: 1}
	key, _, err := reader.Key()
	if err != nil {
		t.Fatal(err)
	}
	wish := serve.ShareRequest{Types: []memory.Type{memory.Semantic}, To: []string{"Ann=" + key}}
	made, err := c.CreateShare(ctx, wish)
	if err != nil || made.Memories != 3 {
		t.Fatalf("without a policy what is given by hand passes: %+v, %v", made, err)
	}
	app, err := c.AddApp(ctx, serve.AppRequest{Name: "garden", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
	if err != nil {
		t.Fatal(err)
	}
	sees := func(want int) {
		t.Helper()
		page, err := c.WithKey(app.Key).List(ctx, serve.ListQuery{})
		if err != nil || len(page.Memories) != want {
			t.Errorf("the app sees %+v, %v, want %d", page.Memories, err, want)
		}
	}
	sees(3)

	diff, err := c.DiffPolicy(ctx, gardenOnly)
	if err != nil || len(diff.Changes) != 2 || len(diff.Policy.Rules) != 3 {
		t.Fatalf("%+v, %v", diff, err)
	}
	ann := diff.Changes[slices.IndexFunc(diff.Changes, func(c serve.PolicyChange) bool { return c.As == "reader:Ann" })]
	if len(ann.Closes) != 2 || len(ann.Opens) != 0 {
		t.Errorf("for Ann: %+v", ann)
	}
	if _, err := c.SetPolicy(ctx, "permit everything"); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("what can't be read: %v", err)
	}
	p, err := c.SetPolicy(ctx, gardenOnly)
	if err != nil || !p.Mine || len(p.Rules) != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	// Who read the policy before overwrites nothing.
	if _, err := c.SetPolicy(ctx, "", policy.ByHand); !errors.Is(err, serve.ErrChanged) {
		t.Errorf("a policy that was read before it changed: %v", err)
	}
	if p, err = c.SetPolicy(ctx, gardenOnly, p.Texts()...); err != nil || p.Text != gardenOnly {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := c.SetNever(ctx, nil, "Zuzana"); !errors.Is(err, serve.ErrChanged) {
		t.Errorf("words that were read before they changed: %v", err)
	}
	sees(2) // not Zuzana, and the policy itself is private
	tested, err := c.TestPolicy(ctx, serve.PolicyTestRequest{As: "reader:Ann"})
	if err != nil || len(tested.Passes) != 1 || tested.Passes[0].By != "the garden" || tested.Held != 3 {
		t.Errorf("%+v, %v", tested, err)
	}
	if tested, err = c.TestPolicy(ctx, serve.PolicyTestRequest{As: "reader:Mallory"}); err != nil || len(tested.Passes) != 0 {
		t.Errorf("%+v, %v", tested, err)
	}
	if _, err = c.TestPolicy(ctx, serve.PolicyTestRequest{As: "Ann"}); !errors.Is(err, memory.ErrInvalid) {
		t.Error(err)
	}

	// What must never be sent is in no share, whatever the share redacts.
	if _, err := c.SetNever(ctx, []string{"ripe"}, []string{}...); err != nil {
		t.Fatal(err)
	}
	if preview, err := c.PreviewShare(ctx, wish); err != nil || len(preview.Memories) != 1 || preview.Memories[0].Text != "The tomatoes are […]." || preview.Memories[0].Copy.Text != preview.Memories[0].Text {
		t.Errorf("%+v, %v", preview, err)
	}
	if p, err = c.SetNever(ctx, nil); err != nil || len(p.Never) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	tested, err = c.TestPolicy(ctx, serve.PolicyTestRequest{As: "reader:Ann"})
	if err != nil || len(tested.Passes) != 1 {
		t.Errorf("%+v, %v", tested, err)
	}

	// What was shared was taken back at once, and what is shared from now on follows the
	// policy.
	u, err := c.UpdateShare(ctx, made.ID.String())
	if err != nil || u.Removed != 0 || u.Share.Memories != 1 {
		t.Errorf("%+v, %v", u, err)
	}
	preview, err := c.PreviewShare(ctx, wish)
	if err != nil || len(preview.Memories) != 1 || len(preview.Held) != 2 {
		t.Errorf("%+v, %v", preview, err)
	}
	wish.To = []string{"Mallory=" + key}
	if _, err := c.CreateShare(ctx, wish); !errors.Is(err, memory.ErrNotFound) || !strings.Contains(err.Error(), "no rule permits it") {
		t.Errorf("a share with somebody whom no rule names: %v", err)
	}

	deeds, err := c.ShareLog(ctx)
	if err != nil || len(deeds.Deeds) != 5 || deeds.Deeds[0].Did != share.DidRefuse || deeds.Deeds[4].Did != share.DidShare || deeds.Deeds[3].Did != share.DidTake || deeds.Deeds[3].Removed != 2 {
		t.Errorf("the account: %+v, %v", deeds, err)
	}

	// It is the owner's statement: another device has it, and no other rank can set it.
	other := newDevice(t, relay.url, 72)
	d.well()
	d.pair(other)
	other.well()
	if got, err := other.Policy(ctx); err != nil || got.Text != gardenOnly || !got.Mine {
		t.Errorf("the other device has %+v, %v", got, err)
	}
	// Two devices change it independently: only what both allow passes.
	if _, err := c.SetPolicy(ctx, policy.ByHand); err != nil {
		t.Fatal(err)
	}
	if _, err := other.SetPolicy(ctx, serve.NewPolicy{Text: `permit (principal is App, action, resource) when { resource.tags.contains("money") };`}); err != nil {
		t.Fatal(err)
	}
	d.well()
	other.well()
	d.well()
	if got, err := c.Policy(ctx); err != nil || len(got.Conflicts) != 1 {
		t.Errorf("apart: %+v, %v", got, err)
	}
	sees(1)
	if _, err := c.SetPolicy(ctx, ""); err != nil {
		t.Fatal(err)
	}
	sees(3)

	// Once erased, it is gone, and another can be set.
	ids, err := c.List(ctx, serve.ListQuery{Tag: "policy"})
	if err != nil || len(ids.Memories) != 1 {
		t.Fatal(ids, err)
	}
	if _, err := c.Delete(ctx, ids.Memories[0].ID.String()); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Policy(ctx); err != nil || got.Mine {
		t.Errorf("erased: %+v, %v", got, err)
	}
	d.well()
	other.well()
	if got, err := c.SetPolicy(ctx, gardenOnly); err != nil || !got.Mine {
		t.Errorf("set anew: %+v, %v", got, err)
	}
	sees(2)
	// Two devices set a first one independently: both hold.
	if _, err := other.SetPolicy(ctx, serve.NewPolicy{Text: `permit (principal is App, action, resource) when { resource.tags.contains("money") };`}); err != nil {
		t.Fatal(err)
	}
	other.well()
	d.well()
	sees(1)
}

// The list of words that must not be sent to anybody is itself shown to nobody.
func TestThreatRulesRead(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 72)
	d.init()
	c := serve.InProcess(serve.New(serve.Options{Services: d.Services()}))
	defer c.Close()
	ctx := t.Context()
	no := false
	if _, err := c.Add(ctx, serve.AddRequest{Text: "The tomatoes are ripe.", Infer: &no}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SetPolicy(ctx, `permit (principal, action, resource);`); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SetNever(ctx, []string{"Quillfeather"}); err != nil {
		t.Fatal(err)
	}
	private := memory.Private
	app, err := c.AddApp(ctx, serve.AppRequest{Name: "all", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}, Sensitivity: &private})
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.WithKey(app.Key).List(ctx, serve.ListQuery{})
	if err != nil || len(page.Memories) != 1 || page.Memories[0].Text != "The tomatoes are ripe." {
		t.Errorf("the app lists %+v, %v", page.Memories, err)
	}
	for _, asker := range []*serve.Client{c, c.WithKey(app.Key)} {
		found, err := asker.Search(ctx, serve.SearchRequest{Query: "Quillfeather permit principal"})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			if strings.Contains(h.Text, "Quillfeather") || strings.Contains(h.Text, "permit") {
				t.Errorf("found: %q", h.Text)
			}
		}
	}
	tested, err := c.TestPolicy(ctx, serve.PolicyTestRequest{As: "reader:Ann"})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range tested.Passes {
		if strings.Contains(it.Text, "Quillfeather") {
			t.Errorf("a reader would get %q", it.Text)
		}
	}
}
