package node_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

const asksAboutHealth = `permit (principal, action, resource) unless { resource.tags.contains("health") };
@id("health") @ask("30 days") permit (principal, action, resource) when { resource.tags.contains("health") };
`

// ownerAt serves a home whose clock is now to its owner, with only the named built-in
// plugins.
func ownerAt(t *testing.T, now *time.Time, plugins ...string) *serve.Client {
	t.Helper()
	cfg := settings(t, "")
	cfg.Plugins.Disabled = slices.DeleteFunc(cfg.Plugins.Disabled, func(id string) bool { return slices.Contains(plugins, id) })
	if _, err := node.Init(cfg, node.InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	home, err := node.Open(cfg, node.Options{Cache: os.Getenv(plugincache.Env), Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { home.Close() })
	if ok, err := home.UnlockAsConfigured(t.Context()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	c := serve.InProcess(serve.New(serve.Options{Services: home.Services()}))
	t.Cleanup(func() { c.Close() })
	return c
}

// For an app, what a rule asks about does not exist before the wearer agrees: to what
// was shown, or to more, and for a time. Each question and answer is in the log.
func TestThreatUnconsented(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	c := ownerAt(t, &now)
	no := false
	add := func(text string, tags ...string) {
		t.Helper()
		if _, err := c.Add(ctx, serve.AddRequest{Text: text, Infer: &no, Tags: tags}); err != nil {
			t.Fatal(err)
		}
	}
	add("The tomatoes are ripe.", "garden")
	add("The blood pressure is 140 to 90.", "health")
	if _, err := c.SetPolicy(ctx, asksAboutHealth); err != nil {
		t.Fatal(err)
	}
	made, err := c.AddApp(ctx, serve.AppRequest{Name: "coach", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
	if err != nil {
		t.Fatal(err)
	}
	app := c.WithKey(made.Key)
	sees := func(want int) {
		t.Helper()
		page, err := app.List(ctx, serve.ListQuery{})
		if err != nil || len(page.Memories) != want {
			t.Errorf("the app sees %+v, %v, want %d", page.Memories, err, want)
		}
	}
	waits := func(questions, memories, asked int) serve.Consent {
		t.Helper()
		list, err := c.Consents(ctx)
		list = slices.DeleteFunc(list, func(v serve.Consent) bool { return len(v.Waits) == 0 })
		if err != nil || len(list) != questions || questions > 0 && (len(list[0].Waits) != memories || list[0].Asked != asked) {
			t.Fatalf("%+v, %v", list, err)
		}
		if questions == 0 {
			return serve.Consent{}
		}
		return list[0]
	}
	waits(0, 0, 0)
	if res, err := app.Search(ctx, serve.SearchRequest{Query: "tomatoes"}); err != nil || len(res.Hits) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	waits(0, 0, 0) // nobody is asked about what nobody searched for
	if res, err := app.Search(ctx, serve.SearchRequest{Query: "blood pressure"}); err != nil || slices.ContainsFunc(res.Hits, func(h serve.Hit) bool { return strings.Contains(h.Memory.Text, "blood") }) {
		t.Errorf("%+v, %v", res, err)
	}
	q := waits(1, 1, 1)
	if q.Who != "app:coach" || q.Action != "read" || q.Rule != "health" || !strings.HasPrefix(q.Waits[0].Text, "The blood pressure") || q.Answer != "" || q.Most.Std() != 30*24*time.Hour {
		t.Errorf("%+v", q)
	}
	if _, err := app.Ask(ctx, serve.AskRequest{Question: "How is the blood pressure?", EvidenceOnly: true}); err != nil {
		t.Error(err)
	}
	if _, err := app.Context(ctx, serve.ContextRequest{Topic: "blood pressure"}); err != nil {
		t.Error(err)
	}
	sees(1)
	waits(1, 1, 4)
	if s, err := c.Status(ctx); err != nil || s.Consents != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := app.Consents(ctx); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("an app reads what waits: %v", err)
	}
	if _, err := app.AnswerConsent(ctx, serve.ConsentAnswer{ID: q.ID, Act: "allow"}); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("an app answers: %v", err)
	}

	// An agreement covers what was shown, and expires.
	for _, bad := range []serve.ConsentAnswer{{ID: "zzzz", Act: "allow"}, {ID: q.ID, Act: "allow", For: config.Duration(31 * 24 * time.Hour)}, {ID: q.ID, Act: "perhaps"}, {ID: "a", Act: "allow"}, {ID: q.ID, Act: "allow"}} {
		if v, err := c.AnswerConsent(ctx, bad); err == nil {
			t.Errorf("%+v: %+v", bad, v)
		}
	}
	if v, err := c.AnswerConsent(ctx, serve.ConsentAnswer{ID: q.ID[:6], Act: "allow", Of: seenIn(q), For: config.Duration(time.Hour)}); err != nil || v.Answer != "allowed" || len(v.Shown) != 1 || len(v.Waits) != 0 || !v.Until.Equal(now.Add(time.Hour)) {
		t.Errorf("%+v, %v", v, err)
	}
	sees(2)
	add("The knee hurts on stairs.", "health")
	sees(2)
	q = waits(1, 1, 5)
	now = now.Add(time.Hour)
	sees(1)
	q = waits(1, 2, 6)
	if q.Answer != "" {
		t.Errorf("it holds on: %+v", q)
	}
	// First one of two, and then everything that will match.
	if v, err := c.AnswerConsent(ctx, serve.ConsentAnswer{ID: q.ID, Act: "allow", Of: []serve.ConsentSeen{{ID: q.Waits[1].ID, Mark: q.Waits[1].Mark}}}); err != nil || len(v.Waits) != 1 || len(v.Shown) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	sees(2)
	if v, err := c.AnswerConsent(ctx, serve.ConsentAnswer{ID: q.ID, Act: "allow", Remember: true}); err != nil || !v.All || len(v.Waits) != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	add("The back is well again.", "health")
	sees(4)
	waits(0, 0, 0)

	// A refusal applies to all, and the question comes again after it expires.
	if v, err := c.AnswerConsent(ctx, serve.ConsentAnswer{ID: q.ID, Act: "refuse"}); err != nil || v.Answer != "refused" || !v.Until.Equal(now.Add(30*24*time.Hour)) {
		t.Errorf("%+v, %v", v, err)
	}
	sees(1)
	waits(0, 0, 0)
	now = now.Add(30 * 24 * time.Hour)
	sees(1)
	waits(1, 3, 8) // the total number of times it was asked
	now = now.Add(8 * 24 * time.Hour)
	waits(0, 0, 0) // nobody asked again for a week

	log, err := c.ShareLog(ctx)
	var did []string
	for _, d := range slices.Backward(log.Deeds) {
		if len(d.To) != 1 || d.To[0] != "app:coach" || d.Title != "health" {
			t.Errorf("%+v", d)
		}
		did = append(did, d.Did)
	}
	if want := []string{string(consent.DidAsk), string(consent.DidAllow), string(consent.DidAsk), string(consent.DidAllow), string(consent.DidAllow), string(consent.DidRefuse), string(consent.DidAsk)}; err != nil || !slices.Equal(did, want) {
		t.Errorf("the account: %v, %v", did, err)
	}
}

// An agreement covers what was shown: a memory that was corrected, or became more
// private, is asked about again, and what changed while the wearer looked is not
// allowed. An agreement for an app ends with its key: another app of the same name
// does not get it.
func TestThreatStaleConsent(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	c := ownerAt(t, &now)
	no, private := false, memory.Private
	text := "The blood pressure is 140 to 90."
	added, err := c.Add(ctx, serve.AddRequest{Text: text, Infer: &no, Tags: []string{"health"}})
	if err != nil {
		t.Fatal(err)
	}
	id := added.Changes[0].Memory.String()
	if _, err := c.SetPolicy(ctx, asksAboutHealth); err != nil {
		t.Fatal(err)
	}
	let := func() *serve.Client {
		t.Helper()
		made, err := c.AddApp(ctx, serve.AppRequest{Name: "coach", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}, Sensitivity: &private})
		if err != nil {
			t.Fatal(err)
		}
		return c.WithKey(made.Key)
	}
	app := let()
	sees := func(want int) {
		t.Helper()
		page, err := app.List(ctx, serve.ListQuery{})
		if err != nil || len(page.Memories) != want {
			t.Fatalf("the app sees %+v, %v, want %d", page.Memories, err, want)
		}
	}
	waits := func() (serve.Consent, serve.ConsentAnswer) {
		t.Helper()
		sees(0)
		list, err := c.Consents(ctx)
		if err != nil || len(list) != 1 || len(list[0].Waits) != 1 || list[0].Waits[0].Text != text || len(list[0].Shown) != 0 {
			t.Fatalf("%+v, %v", list, err)
		}
		it := list[0].Waits[0]
		return list[0], serve.ConsentAnswer{ID: list[0].ID, Act: "allow", Of: []serve.ConsentSeen{{ID: it.ID, Mark: it.Mark}}}
	}
	update := func(r serve.UpdateRequest) {
		t.Helper()
		if _, err := c.Update(ctx, id, r); err != nil {
			t.Fatal(err)
		}
	}
	allow := func() {
		t.Helper()
		_, yes := waits()
		if v, err := c.AnswerConsent(ctx, yes); err != nil || len(v.Shown) != 1 || len(v.Waits) != 0 {
			t.Fatalf("%+v, %v", v, err)
		}
		sees(1)
	}
	_, yes := waits()
	text = "The blood pressure is 160 to 90."
	update(serve.UpdateRequest{Text: &text})
	if v, err := c.AnswerConsent(ctx, yes); !errors.Is(err, serve.ErrConflict) {
		t.Fatalf("a yes to what it says no more: %+v, %v", v, err)
	}
	allow()
	text = "The blood pressure is 180 to 95."
	update(serve.UpdateRequest{Text: &text})
	if q, _ := waits(); q.Answer != "allowed" {
		t.Errorf("%+v", q)
	}
	allow()
	update(serve.UpdateRequest{Sensitivity: &private})
	allow()

	if _, err := c.RevokeApp(ctx, "coach"); err != nil {
		t.Fatal(err)
	}
	if list, err := c.Consents(ctx); err != nil || len(list) != 0 {
		t.Errorf("what an app was allowed that is no more: %+v, %v", list, err)
	}
	app = let()
	q, _ := waits()
	if _, err := c.AnswerConsent(ctx, serve.ConsentAnswer{ID: q.ID, Act: "allow", Remember: true}); err != nil {
		t.Fatal(err)
	}
	sees(1)
	if v, err := c.TestPolicy(ctx, serve.PolicyTestRequest{As: "app:coach"}); err != nil || len(v.Passes) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := c.RevokeApp(ctx, "coach"); err != nil {
		t.Fatal(err)
	}
	app = let()
	waits()
}

// A share contains what the wearer consented to, as redacted, and loses it when the
// consent is withdrawn.
func TestConsentOfAShare(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 81)
	ctx := t.Context()
	d.init()
	c := serve.InProcess(serve.New(serve.Options{Services: d.Services()}))
	defer c.Close()
	no := false
	for text, tag := range map[string]string{"The tomatoes are ripe.": "garden", "Zuzana takes a pill at eight.": "health"} {
		if _, err := c.Add(ctx, serve.AddRequest{Text: text, Infer: &no, Tags: []string{tag}, Type: memory.Semantic, Fields: memory.Fields{Semantic: &memory.SemanticFields{Details: "Zuzana wrote this"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.SetPolicy(ctx, asksAboutHealth); err != nil {
		t.Fatal(err)
	}
	reader := &share.Reader{Dir: t.TempDir(), Reserve: 1}
	key, _, err := reader.Key()
	if err != nil {
		t.Fatal(err)
	}
	wish := serve.ShareRequest{Types: []memory.Type{memory.Semantic}, To: []string{"Ann=" + key}, Redact: []string{"Zuzana"}}
	p, err := c.PreviewShare(ctx, wish)
	if err != nil || len(p.Memories) != 1 || len(p.Held) != 1 || p.Held[0].Why != "it waits for your consent: health" {
		t.Fatalf("%+v, %v", p, err)
	}
	list, err := c.Consents(ctx)
	if err != nil || len(list) != 1 || list[0].Who != "reader:Ann" || !list[0].Redacted || len(list[0].Waits) != 1 || list[0].Waits[0].Text != "[…] takes a pill at eight." ||
		!slices.Equal(list[0].Waits[0].Beyond, []string{"[…] wrote this"}) || list[0].Waits[0].Was == "" {
		t.Fatalf("what would be shown: %+v, %v", list, err)
	}
	if _, err := c.AnswerConsent(ctx, serve.ConsentAnswer{ID: list[0].ID, Act: "allow", Of: seenIn(list[0])}); err != nil {
		t.Fatal(err)
	}
	made, err := c.CreateShare(ctx, wish)
	if err != nil || made.Memories != 2 {
		t.Fatalf("%+v, %v", made, err)
	}
	// The agreement was for the redacted text, and for nobody else.
	bare := wish
	bare.Redact = nil
	if p, err := c.PreviewShare(ctx, bare); err != nil || len(p.Memories) != 1 {
		t.Errorf("without redaction: %+v, %v", p, err)
	}
	bare = wish
	bare.To = []string{"Eve=" + key}
	if p, err := c.PreviewShare(ctx, bare); err != nil || len(p.Memories) != 1 {
		t.Errorf("another reader: %+v, %v", p, err)
	}
	other, _, err := (&share.Reader{Dir: t.TempDir(), Reserve: 1}).Key()
	if err != nil {
		t.Fatal(err)
	}
	bare = wish
	bare.To = []string{"Ann=" + other}
	if p, err := c.PreviewShare(ctx, bare); err != nil || len(p.Memories) != 1 {
		t.Errorf("another key by the same name: %+v, %v", p, err)
	}
	if v, err := c.AnswerConsent(ctx, serve.ConsentAnswer{ID: list[0].ID, Act: "refuse"}); err != nil || v.Answer != "refused" {
		t.Errorf("%+v, %v", v, err)
	}
	if shares, err := c.Shares(ctx); err != nil || len(shares) != 1 || shares[0].Memories != 1 {
		t.Errorf("after the refusal: %+v, %v", shares, err)
	}
}

// seenIn returns the memories that the wearer is shown with a question.
func seenIn(q serve.Consent) (of []serve.ConsentSeen) {
	for _, it := range q.Waits {
		of = append(of, serve.ConsentSeen{ID: it.ID, Mark: it.Mark})
	}
	return of
}
