package node_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// An app with the right to share gives readers only what it may see itself: not what is more
// private, of another type, tag or time, in the vault, or forbidden to it by the policy, and not
// later either. It sees and changes only the shares that it made, and each is logged under its
// name.
func TestThreatAppSharesMore(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 91)
	ctx := t.Context()
	d.init()
	c := serve.InProcess(serve.New(serve.Options{Services: d.Services()}))
	defer c.Close()
	no, private := false, memory.Private
	add := func(text string, change func(*serve.AddRequest)) string {
		t.Helper()
		r := serve.AddRequest{Text: text, Infer: &no, Tags: []string{"garden"}}
		if change != nil {
			change(&r)
		}
		added, err := c.Add(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return added.Changes[0].Memory.String()
	}
	seen := add("The tomatoes are ripe.", nil)
	second := add("The beans are planted.", nil)
	add("The key of the shed is under the blue pot.", func(r *serve.AddRequest) { r.Sensitivity = &private })
	add("The salary comes on the 28th.", func(r *serve.AddRequest) { r.Tags = []string{"money"} })
	add("Zuzana came to see the garden.", func(r *serve.AddRequest) { r.Type = memory.Episodic })
	add("The roses need a spray.", func(r *serve.AddRequest) { r.Tags = []string{"garden", "poison"} })
	if _, err := c.SetPolicy(ctx, `permit (principal, action, resource);
forbid (principal is App, action, resource) when { resource.tags.contains("poison") };
`); err != nil {
		t.Fatal(err)
	}
	ends := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	let := func(name string, rights ...serve.Right) *serve.Client {
		t.Helper()
		n, err := c.AddApp(ctx, serve.AppRequest{Name: name, Can: rights, Types: []string{"semantic"}, Tags: []string{"garden"}, Ends: ends, Delegate: 1})
		if err != nil {
			t.Fatal(err)
		}
		return c.WithKey(n.Key)
	}
	if _, err := c.AddApp(ctx, serve.AppRequest{Name: "blind", Can: []serve.Right{serve.RightShare}, Types: []string{"semantic"}}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("an app that shares and reads nothing: %v", err)
	}
	app, other, reads := let("club", serve.RightRead, serve.RightShare), let("other", serve.RightRead, serve.RightShare), let("reads", serve.RightRead)
	reader := &share.Reader{Dir: t.TempDir(), Reserve: 1}
	key, _, err := reader.Key()
	if err != nil {
		t.Fatal(err)
	}
	secret := memory.Secret
	wish := serve.ShareRequest{Types: []memory.Type{memory.Semantic, memory.Episodic}, Sensitivity: &secret, To: []string{"Ann=" + key}, Title: "the club"}
	if _, err := reads.CreateShare(ctx, wish); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("without the right: %v", err)
	}
	for name, change := range map[string]func(*serve.ShareRequest){
		"a query":   func(r *serve.ShareRequest) { r.Query = "shed" },
		"the vault": func(r *serve.ShareRequest) { r.Types = []memory.Type{memory.Vault} },
		"confirm":   func(r *serve.ShareRequest) { r.Confirm = "x" },
		"a crowd":   func(r *serve.ShareRequest) { r.AtLeast = 2 },
	} {
		r := wish
		change(&r)
		if _, err := app.CreateShare(ctx, r); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := wish
	r.Quotes = true
	if _, err := app.CreateShare(ctx, r); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("quotes: %v", err)
	}
	r = wish
	r.Tags = []string{"money"}
	if _, err := app.CreateShare(ctx, r); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("another tag: %v", err)
	}

	made, err := app.CreateShare(ctx, wish)
	if err != nil || made.Memories != 2 || made.App != "club" || !made.Expires.Equal(ends) {
		t.Fatalf("%+v, %v", made, err)
	}
	gives := func(want ...string) {
		t.Helper()
		v, err := c.Share(ctx, made.ID.String())
		var texts []string
		for _, m := range v.Memories {
			texts = append(texts, m.Text)
		}
		slices.Sort(texts)
		if err != nil || !slices.Equal(texts, want) {
			t.Errorf("its readers see %q, %v", texts, err)
		}
	}
	gives("The beans are planted.", "The tomatoes are ripe.")

	// The share grows and shrinks with what the app may see, and with the policy.
	if _, err := c.Update(ctx, second, serve.UpdateRequest{Sensitivity: &private}); err != nil {
		t.Fatal(err)
	}
	add("The rake is new.", nil)
	add("The cellar is damp.", func(r *serve.AddRequest) { r.Sensitivity = &private })
	if _, err := c.UpdateShare(ctx, made.ID.String()); err != nil {
		t.Fatal(err)
	}
	gives("The rake is new.", "The tomatoes are ripe.")

	// Others have no access to it.
	for name, call := range map[string]func(*serve.Client) error{
		"list": func(c *serve.Client) error {
			list, err := c.Shares(ctx)
			if len(list) > 0 {
				t.Errorf("another app lists %+v", list)
			}
			return errors.Join(err, memory.ErrNotFound)
		},
		"revoke": func(c *serve.Client) error { _, err := c.RevokeShare(ctx, made.ID.String(), ""); return err },
	} {
		if err := call(other); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, call := range map[string]func() error{
		"preview": func() error { _, err := app.PreviewShare(ctx, wish); return err },
		"show":    func() error { _, err := app.Share(ctx, made.ID.String()); return err },
		"update":  func() error { _, err := app.UpdateShare(ctx, made.ID.String()); return err },
		"log":     func() error { _, err := app.ShareLog(ctx); return err },
	} {
		if err := call(); !errors.Is(err, serve.ErrForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}

	// The app's log says which memories were shared, and the wearer's log says which app shared
	// them.
	log, err := c.AppLog(ctx, "club", 50)
	i := slices.IndexFunc(log.Entries, func(u serve.AppUse) bool { return u.Did == "createShare" && u.Refused == "" })
	if err != nil || i < 0 || len(log.Entries[i].Shown) != 2 || !slices.ContainsFunc(log.Entries[i].Shown, func(id memory.ID) bool { return id.String() == seen }) {
		t.Errorf("%+v, %v", log, err)
	}
	deeds, err := c.ShareLog(ctx)
	if err != nil || !slices.ContainsFunc(deeds.Deeds, func(d serve.ShareDeed) bool { return d.Did == share.DidShare && d.By == "app:club" }) {
		t.Errorf("%+v, %v", deeds, err)
	}

	// A later app of the same name gets none of these shares, and the owner can end them.
	if _, err := c.RevokeApp(ctx, "club"); err != nil {
		t.Fatal(err)
	}
	app = let("club", serve.RightRead, serve.RightShare)
	if list, err := app.Shares(ctx); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := app.RevokeShare(ctx, made.ID.String(), ""); !errors.Is(err, memory.ErrNotFound) {
		t.Error(err)
	}
	own, err := app.CreateShare(ctx, wish)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := app.RevokeShare(ctx, own.ID.String(), ""); err != nil || v.Revoked.IsZero() {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := c.RevokeShare(ctx, made.ID.String(), ""); err != nil || v.Revoked.IsZero() || v.App != "club" {
		t.Errorf("%+v, %v", v, err)
	}
}
