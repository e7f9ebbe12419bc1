package node_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

const wifi = "Tr0ut-pine-88"

// vaultHome is a home with one secret in its vault, and an app that may ask for it.
type vaultHome struct {
	*serve.Client
	t     *testing.T
	now   time.Time
	entry memory.ID
}

func newVaultHome(t *testing.T) *vaultHome {
	h := &vaultHome{t: t, now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}
	h.Client = ownerAt(t, &h.now, "secrets")
	h.entry = h.keep("The wifi password is " + wifi)
	return h
}

// keep puts a Wi-Fi password into the vault.
func (h *vaultHome) keep(line string) memory.ID {
	h.t.Helper()
	added, err := h.Add(h.t.Context(), serve.AddRequest{Text: line})
	if err != nil || len(added.Changes) == 0 {
		h.t.Fatalf("%+v, %v", added, err)
	}
	return added.Changes[0].Memory
}

func (h *vaultHome) app(name string, change ...func(*serve.AppRequest)) *serve.Client {
	h.t.Helper()
	r := serve.AppRequest{Name: name, Can: []serve.Right{serve.RightVault}}
	for _, c := range change {
		c(&r)
	}
	made, err := h.AddApp(h.t.Context(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.WithKey(made.Key)
}

func askFor(entry string) serve.VaultAsk {
	return serve.VaultAsk{Entry: entry, Why: "to join the network"}
}

// waits checks that an app gets nothing, and is not told why.
func (h *vaultHome) waits(app *serve.Client, entry string) {
	h.t.Helper()
	v, err := app.AskVault(h.t.Context(), askFor(entry))
	if err != nil || v.State != serve.VaultWaits || v.Entry != nil || v.Lapses.IsZero() {
		h.t.Fatalf("asked for %q: %+v, %v", entry, v, err)
	}
}

// gets checks that an app gets the secret, and nothing the next time.
func (h *vaultHome) gets(app *serve.Client, secret string) {
	h.t.Helper()
	v, err := app.AskVault(h.t.Context(), askFor("wi-fi password"))
	if err != nil || v.State != serve.VaultGiven || v.Entry == nil || string(v.Entry.Secret) != secret {
		h.t.Fatalf("%+v, %v", v, err)
	}
}

// question returns the one waiting question of an app.
func (h *vaultHome) question(who string) serve.Consent {
	h.t.Helper()
	list, err := h.Consents(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, q := range list {
		if q.Who == who && len(q.Waits) == 1 {
			return q
		}
	}
	h.t.Fatalf("no question of %s: %+v", who, list)
	return serve.Consent{}
}

func yesTo(q *serve.Consent) serve.ConsentAnswer {
	return serve.ConsentAnswer{ID: q.ID, Act: "allow", Of: seenIn(*q)}
}

func (h *vaultHome) allow(who string) {
	h.t.Helper()
	q := h.question(who)
	if v, err := h.AnswerConsent(h.t.Context(), yesTo(&q)); err != nil || v.Answer != "allowed" || !v.Until.Equal(h.now.Add(10*time.Minute)) {
		h.t.Fatalf("%+v, %v", v, err)
	}
}

func (h *vaultHome) open() {
	h.t.Helper()
	if _, err := h.UnlockVault(h.t.Context(), "", time.Hour); err != nil {
		h.t.Fatal(err)
	}
}

// An app gets a secret after the wearer's yes to this one reading, and not otherwise: not by a yes
// to another app, a second time, too late, or for an entry that was changed. It does not learn what
// there is to ask for.
func TestThreatVaultWithoutWord(t *testing.T) {
	ctx := t.Context()
	h := newVaultHome(t)
	deploy, other := h.app("deploy"), h.app("other")
	for name, c := range map[string]*serve.Client{
		"an app without the right": h.app("reader", func(r *serve.AppRequest) { r.Can, r.Types = []serve.Right{serve.RightRead}, []string{"semantic"} }),
	} {
		if v, err := c.AskVault(ctx, askFor("wi-fi password")); !errors.Is(err, serve.ErrForbidden) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	if _, err := h.AskVault(ctx, askFor("wi-fi password")); !errors.Is(err, serve.ErrUnsupported) {
		t.Errorf("the owner asks: %v", err)
	}
	for _, bad := range []serve.VaultAsk{{}, {Entry: "x"}, {Why: "x"}, {Entry: strings.Repeat("x", 201), Why: "x"}, {Entry: "x", Why: "a\x1b[2J"}, {Entry: "x\u202e", Why: "x"}} {
		if v, err := deploy.AskVault(ctx, bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%+v: %+v, %v", bad, v, err)
		}
	}

	// An existing entry and a missing one look the same to an app.
	h.waits(deploy, "Wi-Fi password")
	h.waits(deploy, "bank card")
	list, err := h.Consents(ctx)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, q := range list {
		if q.Who != "app:deploy" || q.Action != "reveal" || q.Purpose != "to join the network" || q.Answer != "" || len(q.Waits) != 1 || q.Waits[0].Type != memory.Vault || q.Most.Std() != 10*time.Minute {
			t.Errorf("%+v", q)
		}
		if text := fmt.Sprintf("%+v", q); strings.Contains(text, wifi) {
			t.Error("the question has the secret")
		}
		if q.Waits[0].Mark == "" {
			if _, err := h.AnswerConsent(ctx, yesTo(&q)); !errors.Is(err, serve.ErrConflict) {
				t.Errorf("a yes to what is not there: %v", err)
			}
			if _, err := h.AnswerConsent(ctx, serve.ConsentAnswer{ID: q.ID, Act: "refuse"}); err != nil {
				t.Error(err)
			}
		}
	}
	if v, err := deploy.AskVault(ctx, askFor("bank card")); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("after a no: %+v, %v", v, err)
	}
	h.waits(other, "bank card") // the no was to one app

	// A yes needs an open vault, names what was shown, and is valid once.
	q := h.question("app:deploy")
	if _, err := h.AnswerConsent(ctx, yesTo(&q)); !errors.Is(err, serve.ErrVaultLocked) {
		t.Errorf("a yes while the vault is closed: %v", err)
	}
	h.open()
	long, always := yesTo(&q), yesTo(&q)
	long.For, always.Remember = config.Duration(11*time.Minute), true
	for name, bad := range map[string]serve.ConsentAnswer{"to whatever it is": {ID: q.ID, Act: "allow"}, "for long": long, "always": always} {
		if v, err := h.AnswerConsent(ctx, bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("a yes %s: %+v, %v", name, v, err)
		}
	}
	if _, err := deploy.AnswerConsent(ctx, yesTo(&q)); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("the app answers: %v", err)
	}
	h.waits(other, "wi-fi password")
	h.allow("app:deploy")
	h.waits(other, "wi-fi password")
	h.gets(deploy, wifi)
	h.waits(deploy, "wi-fi password")

	// Of many simultaneous requests, one gets it.
	h.allow("app:deploy")
	var wg sync.WaitGroup
	var mu sync.Mutex
	given := 0
	for range 8 {
		wg.Go(func() {
			if v, err := deploy.AskVault(ctx, askFor(h.entry.String())); err == nil && v.Entry != nil {
				mu.Lock()
				defer mu.Unlock()
				given++
			}
		})
	}
	if wg.Wait(); given != 1 {
		t.Errorf("given %d times", given)
	}

	// A different reason does not make another question, and a yes expires.
	h.waits(deploy, "wi-fi password")
	if v, err := deploy.AskVault(ctx, serve.VaultAsk{Entry: "wi-fi password", Why: "because"}); err != nil || v.State != serve.VaultWaits || h.question("app:deploy").Purpose != "to join the network" {
		t.Errorf("%+v, %v", v, err)
	}
	h.allow("app:deploy")
	h.now = h.now.Add(10 * time.Minute)
	h.waits(deploy, "wi-fi password")

	// Each reading is in the log of the vault and in the app's log.
	told, err := h.VaultLog(ctx, 0)
	reads := told.Reads
	if err != nil || len(reads) != 2 || reads[0].By.Device != "app:deploy" || reads[0].ID != h.entry {
		t.Errorf("%+v, %v", reads, err)
	}
	log, err := h.AppLog(ctx, "deploy", 100)
	said := map[string]int{}
	for _, u := range log.Entries {
		said[u.Did]++
		if u.Did == "readVault" && (len(u.Shown) != 1 || u.Shown[0] != h.entry) {
			t.Errorf("%+v", u)
		}
	}
	if err != nil || said["readVault"] != 2 || said["askVault"] < 4 {
		t.Errorf("%+v, %v", log, err)
	}
	deeds, err := h.ShareLog(ctx)
	if err != nil || len(deeds.Deeds) == 0 || deeds.Deeds[0].To[0] != "app:deploy" {
		t.Errorf("%+v, %v", deeds, err)
	}
}

// A yes applies to the entry as it was shown and to the key that asked. It ends when the key or the
// entry ends. An app that may not ask for an entry does not learn whether it exists.
func TestThreatVaultStaleWord(t *testing.T) {
	ctx := t.Context()
	h := newVaultHome(t)
	h.open()
	deploy := h.app("deploy")

	// Changed between the question and the yes, and after the yes.
	h.waits(deploy, "wi-fi password")
	q := h.question("app:deploy")
	if _, err := h.Delete(ctx, h.entry.String()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.AnswerConsent(ctx, yesTo(&q)); err == nil {
		t.Error("a yes to what is erased")
	}
	h.entry = h.keep("From today on the wifi password is Perch-oak-77")
	h.waits(deploy, "wi-fi password")
	h.allow("app:deploy")
	if _, err := h.Update(ctx, h.entry.String(), serve.UpdateRequest{Tag: []string{"home"}}); err != nil {
		t.Fatal(err)
	}
	h.waits(deploy, "wi-fi password")

	// Taken back before it was used, and closed before it was used.
	h.allow("app:deploy")
	if _, err := h.AnswerConsent(ctx, serve.ConsentAnswer{ID: h.answered("app:deploy").ID, Act: "refuse", For: config.Duration(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if v, err := deploy.AskVault(ctx, askFor("wi-fi password")); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("%+v, %v", v, err)
	}
	h.now = h.now.Add(time.Minute)

	// An app whose scope does not include the entry.
	abroad := h.app("abroad", func(r *serve.AppRequest) { r.Tags = []string{"work"} })
	h.waits(abroad, "wi-fi password")
	if q := h.question("app:abroad"); q.Waits[0].Mark != "" || q.Waits[0].ID == h.entry {
		t.Errorf("%+v", q)
	}

	// The app is revoked while its question waits. A new app of that name gets neither its questions nor its answers.
	h.waits(deploy, "wi-fi password")
	h.allow("app:deploy")
	if _, err := h.RevokeApp(ctx, "deploy"); err != nil {
		t.Fatal(err)
	}
	if v, err := deploy.AskVault(ctx, askFor("wi-fi password")); !errors.Is(err, serve.ErrKey) {
		t.Errorf("%+v, %v", v, err)
	}
	deploy = h.app("deploy")
	h.waits(deploy, "wi-fi password")

	// A locked node gives nothing; once it is opened again, the vault is closed and the yes waits.
	h.allow("app:deploy")
	if _, err := h.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	if v, err := deploy.AskVault(ctx, askFor("wi-fi password")); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := h.Unlock(ctx, ""); err != nil {
		t.Fatal(err)
	}
	h.waits(deploy, "wi-fi password")
	h.open()
	h.gets(deploy, "Perch-oak-77")
}

// An app that waits, or was refused, does not notice when an entry of that name disappears or
// appears.
func TestAppCannotObserveVaultEntries(t *testing.T) {
	ctx := t.Context()
	h := newVaultHome(t)
	told, waiting := h.app("told"), h.app("waiting")
	h.waits(told, "wi-fi password")
	q := h.question("app:told")
	if _, err := h.AnswerConsent(ctx, serve.ConsentAnswer{ID: q.ID, Act: "refuse"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Delete(ctx, h.entry.String()); err != nil {
		t.Fatal(err)
	}
	first, err := waiting.AskVault(ctx, askFor("wi-fi password"))
	if err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Hour)
	for _, there := range []bool{false, true} {
		if there {
			h.keep("From today on the wifi password is Perch-oak-77")
		}
		if v, err := told.AskVault(ctx, askFor("Wi-Fi password")); !errors.Is(err, serve.ErrForbidden) {
			t.Errorf("after a no, there %t: %+v, %v", there, v, err)
		}
		if v, err := waiting.AskVault(ctx, askFor("Wi-Fi password")); err != nil || !v.Lapses.Equal(first.Lapses) {
			t.Errorf("there %t: %+v, first %+v, %v", there, v, first, err)
		}
		if q := h.question("app:waiting"); (q.Waits[0].Mark != "") != there {
			t.Errorf("the wearer is asked, there %t: %+v", there, q)
		}
	}
	h.open()
	h.allow("app:waiting")
	h.gets(waiting, "Perch-oak-77")
}

// answered returns the answer to an app that is valid.
func (h *vaultHome) answered(who string) serve.Consent {
	h.t.Helper()
	list, err := h.Consents(h.t.Context())
	for _, q := range list {
		if q.Who == who && q.Answer != "" {
			return q
		}
	}
	h.t.Fatalf("%+v, %v", list, err)
	return serve.Consent{}
}

// Five questions of an app about the vault may wait, whether such entries exist or not. Other apps'
// questions are asked all the same.
func TestThreatFloodOfVaultQuestions(t *testing.T) {
	ctx := t.Context()
	h := newVaultHome(t)
	flood := h.app("flood", func(r *serve.AppRequest) { r.Requests = 1000 })
	for i := range 5 {
		h.waits(flood, fmt.Sprintf("card %d", i))
	}
	for _, entry := range []string{"card 6", "wi-fi password"} {
		if v, err := flood.AskVault(ctx, askFor(entry)); !errors.Is(err, serve.ErrLimit) {
			t.Errorf("%s: %+v, %v", entry, v, err)
		}
	}
	h.waits(flood, "CARD 3.") // the same question
	h.waits(h.app("deploy"), "wi-fi password")
	if list, err := h.Consents(ctx); err != nil || len(list) != 6 {
		t.Errorf("%d questions, %v", len(list), err)
	}
	h.now = h.now.Add(24 * time.Hour)
	if list, err := h.Consents(ctx); err != nil || len(list) != 0 {
		t.Errorf("after a day: %+v, %v", list, err)
	}
	h.waits(flood, "wi-fi password")
}
