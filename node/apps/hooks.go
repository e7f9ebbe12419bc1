package apps

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// Hook is where an app is told of new memories, and how far it has been.
type Hook struct {
	App    string       `json:"-"`
	URL    string       `json:"-"`
	Secret serve.Secret `json:"secret"` // whsec_ and 24 bytes in base64
	Cursor uint64       `json:"cursor"` // number of the last change that was told or is none of the app's
	Tries  int          `json:"tries"`  // of the next one, in vain
	Next   time.Time    `json:"next"`   // when it is tried again
	Off    string       `json:"off"`    // why nothing is told any more
	Day    string       `json:"day"`    // 2026-09-14: the wearer's day whose end is told next; empty: it was never looked at
}

// SecretPrefix begins the secret of a hook, as Standard Webhooks has it.
const SecretPrefix = "whsec_"

func hookName(app string) string { return "hook/" + app }

// checkHook takes https, and http on this machine.
func checkHook(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || len(s) > 2000 {
		return errors.New("want a URL such as https://example.org/hook")
	}
	if u.Scheme == "https" {
		return nil
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Scheme != "http" || u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
		return errors.New("want https; http on this machine alone")
	}
	return nil
}

// newHook writes the hook of an app that begins, from the changes that come after.
func newHook(tx *store.Tx, r *serve.AppRequest) (serve.Secret, error) {
	if r.Hook == "" {
		return "", tx.DeleteMeta(hookName(r.Name))
	}
	last, err := tx.LastChange()
	if err != nil {
		return "", err
	}
	b := make([]byte, 24)
	rand.Read(b)
	h := Hook{Secret: serve.Secret(SecretPrefix + base64.StdEncoding.EncodeToString(b)), Cursor: last}
	return h.Secret, tx.PutMeta(hookName(r.Name), &h)
}

// Hooks gives those of apps whose keys open.
func (b *Book) Hooks(ctx context.Context) (out []Hook, err error) {
	err = b.store.View(ctx, func(tx *store.Tx) error {
		list, err := records(tx)
		if err != nil {
			return err
		}
		for i := range list {
			r := &list[i]
			if r.App.Hook == "" || r.over(b.now()) {
				continue
			}
			h := Hook{App: r.App.Name, URL: r.App.Hook}
			if ok, err := tx.Meta(hookName(r.App.Name), &h); err != nil || !ok {
				return err
			}
			out = append(out, h)
		}
		return nil
	})
	return out, err
}

// SaveHook keeps how far a hook is, unless another has taken its place.
func (b *Book) SaveHook(ctx context.Context, h Hook) error {
	return b.store.Update(ctx, func(tx *store.Tx) error {
		var there Hook
		if ok, err := tx.Meta(hookName(h.App), &there); err != nil || !ok || there.Secret != h.Secret {
			return err
		}
		return tx.PutMeta(hookName(h.App), &h)
	})
}

// lookedAtOnce is how many changes are looked through for one that an app sees.
const lookedAtOnce = 1000

// NextFor gives the next change after a hook's cursor that its app sees, with the
// memory as it sees it now, and notes it in the account; nil: there is none up to cursor.
// It is an error once the app is out: serve.ErrKey.
func (b *Book) NextFor(ctx context.Context, h Hook) (c *memory.Change, m memory.Memory, cursor uint64, err error) {
	v, within, leave, err := b.enter(ctx, "", func(r *record) bool { return r.App.Name == h.App && r.App.Hook == h.URL })
	if err != nil {
		return nil, m, h.Cursor, err
	}
	defer leave()
	if err := v.can(serve.RightRead); err != nil {
		return nil, m, h.Cursor, err
	}
	cursor = h.Cursor
	looked := 0
	for got, err := range b.exchange.Changes(within, h.Cursor, false) {
		if err != nil {
			return nil, m, cursor, err
		}
		if looked++; looked > lookedAtOnce {
			break
		}
		cursor = got.Seq
		if got.Verdict != memory.Add && got.Verdict != memory.Update {
			continue
		}
		if m, err = v.get(within, b.reader, got.Memory); errors.Is(err, memory.ErrNotFound) || err == nil && m.State != memory.Active {
			continue
		} else if err != nil {
			return nil, m, h.Cursor, err
		}
		if err := v.shown(within, "hook", m); err != nil {
			return nil, m, h.Cursor, err
		}
		told := v.scope.change(got, &m)
		return &told, m, cursor, nil
	}
	return nil, m, cursor, nil
}

// hooksOf puts what became of hooks into a list of apps.
func hooksOf(tx *store.Tx, list []serve.App) error {
	for i := range list {
		if list[i].Hook == "" {
			continue
		}
		var h Hook
		if _, err := tx.Meta(hookName(list[i].Name), &h); err != nil {
			return err
		}
		list[i].HookOff = h.Off
		if h.Off == "" && h.Tries > 0 {
			list[i].HookOff = fmt.Sprintf("tried %d times in vain, and again at %s", h.Tries, h.Next.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// mayHook holds a request's hook to what it needs.
func mayHook(r *serve.AppRequest) error {
	if r.Hook == "" {
		return nil
	}
	if err := checkHook(r.Hook); err != nil {
		return err
	}
	if !slices.Contains(r.Can, serve.RightRead) {
		return errors.New("it needs the right to read")
	}
	return nil
}
