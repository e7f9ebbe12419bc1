package apps

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// Hook is the address to which an app's messages are sent, and how far they were sent.
type Hook struct {
	App    string       `json:"-"`
	URL    string       `json:"-"`
	Secret serve.Secret `json:"secret"` // whsec_ and 24 bytes in base64
	Cursor uint64       `json:"cursor"` // number of the last change that was sent or does not concern the app
	Tries  int          `json:"tries"`  // failed attempts with the next one
	Next   time.Time    `json:"next"`   // when it is tried again
	Off    string       `json:"off"`    // why nothing is sent any more
	Day    string       `json:"day"`    // 2026-09-14: the wearer's day whose end is sent next; empty: not determined yet

	// Ended and EndedID are those of the app's last share whose end was sent. If they are not
	// set, ends of shares were never checked.
	Ended   time.Time      `json:"ended,omitzero"`
	EndedID memory.SpaceID `json:"ended_id,omitzero"`

	Conflict string `json:"conflict,omitempty"` // id of the last conflict that was sent, because each change of its sides would send it again
}

// Notification is what an app is sent about one change.
type Notification struct {
	Change   *memory.Change // nil: only the conflict is sent
	Memory   memory.Memory
	Conflict *Conflict // nil: there is none
}

// Conflict is what an app is sent about memories that contradict each other. It may read each
// of them.
type Conflict struct {
	ID       string          `json:"id"`       // it changes when the sides change
	Kind     string          `json:"kind"`     // slot or pin
	Memories []memory.Memory `json:"memories"` // at most maxSides
}

// ShareEnd is what an app is sent about a share that it made, once nobody can read it any more.
type ShareEnd struct {
	ID      memory.SpaceID `json:"id"`
	Title   string         `json:"title,omitempty"`
	Created time.Time      `json:"created"`
	Expires time.Time      `json:"expires,omitzero"`
	Ended   time.Time      `json:"ended"`
}

// SecretPrefix begins the secret of a hook, as in Standard Webhooks.
const SecretPrefix = "whsec_"

func hookName(app string) string { return "hook/" + app }

// checkHook accepts https, and http on this machine.
func checkHook(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || len(s) > 2000 {
		return errors.New("want a URL such as https://example.org/hook")
	}
	if u.Scheme == "https" {
		return nil
	}
	if u.Scheme != "http" || !clientaddr.Loopback(u.Hostname()) {
		return errors.New("want https; http is allowed only on this machine")
	}
	return nil
}

// newHook stores the hook of a new app, which is sent the changes that come after. Ends of its
// shares are sent from now on.
func newHook(tx *store.Tx, r *serve.AppRequest, now time.Time) (serve.Secret, error) {
	if r.Hook == "" {
		return "", tx.DeleteMeta(hookName(r.Name))
	}
	last, err := tx.LastChange()
	if err != nil {
		return "", err
	}
	b := make([]byte, 24)
	rand.Read(b)
	h := Hook{Secret: serve.Secret(SecretPrefix + base64.StdEncoding.EncodeToString(b)), Cursor: last,
		Ended: now.UTC().Truncate(time.Second)} // in the precision in which ends are stored
	return h.Secret, tx.PutMeta(hookName(r.Name), &h)
}

// Hooks returns the hooks of apps whose keys are valid.
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
			ok, err := tx.Meta(hookName(r.App.Name), &h)
			if err != nil {
				return err
			}
			if ok { // otherwise the other apps are still served
				out = append(out, h)
			}
		}
		return nil
	})
	return out, err
}

// SaveHook stores the progress of a hook, unless another one has replaced it.
func (b *Book) SaveHook(ctx context.Context, h Hook) error {
	return b.store.Update(ctx, func(tx *store.Tx) error {
		var there Hook
		if ok, err := tx.Meta(hookName(h.App), &there); err != nil || !ok || there.Secret != h.Secret {
			return err
		}
		return tx.PutMeta(hookName(h.App), &h)
	})
}

// lookedAtOnce is how many changes are searched for one that an app sees.
const lookedAtOnce = 1000

// NextChange returns what has to be sent about the next change after a hook's cursor, as the app
// sees it now, and logs it; nil: there is nothing up to cursor. The error is serve.ErrKey once
// the app's key has ended.
func (b *Book) NextChange(ctx context.Context, h Hook) (t *Notification, cursor uint64, err error) {
	v, within, leave, err := b.entry(ctx, &h)
	if err != nil {
		return nil, h.Cursor, err
	}
	defer leave()
	cursor = h.Cursor
	looked := 0
	for got, err := range b.exchange.Changes(within, h.Cursor, false) {
		if err != nil {
			return nil, cursor, err
		}
		if looked++; looked > lookedAtOnce {
			break
		}
		cursor = got.Seq
		m, err := v.get(within, b.reader, got.Memory)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, h.Cursor, err
		}
		t := &Notification{Memory: m}
		if t.Conflict, err = v.conflict(within, b.reader, &m); err != nil {
			return nil, h.Cursor, err
		}
		if t.Conflict != nil && t.Conflict.ID == h.Conflict {
			t.Conflict = nil
		}
		shown := memoriesOf(t)
		if t.Conflict != nil && tokens(shown...) > v.app.Tokens { // it exceeds the tokens of a whole day
			t.Conflict, shown = nil, []memory.Memory{m}
		}
		if m.State == memory.Active && (got.Verdict == memory.Add || got.Verdict == memory.Update) {
			change := v.scope.change(got, &m)
			t.Change = &change
		} else if t.Conflict == nil {
			continue
		}
		if n := tokens(shown...); n > v.app.Tokens { // it would block everything after it, day after day
			why := fmt.Sprintf("a memory has %d tokens, and the app gets %d a day", n, v.app.Tokens)
			if err := v.book.note(within, v, serve.AppUse{Did: "hook", Refused: why}); err != nil {
				return nil, h.Cursor, err
			}
			continue
		}
		if err := v.logShown(within, "hook", shown...); err != nil {
			return nil, h.Cursor, err
		}
		return t, cursor, nil
	}
	return nil, cursor, nil
}

// memoriesOf returns the memories that an app is given with a message.
func memoriesOf(t *Notification) []memory.Memory {
	if t.Conflict == nil {
		return []memory.Memory{t.Memory}
	}
	if slices.ContainsFunc(t.Conflict.Memories, func(m memory.Memory) bool { return m.ID == t.Memory.ID }) {
		return t.Conflict.Memories
	}
	return append([]memory.Memory{t.Memory}, t.Conflict.Memories...)
}

// entry begins a visit for an app's hook.
func (b *Book) entry(ctx context.Context, h *Hook) (*visit, context.Context, func(), error) {
	v, within, leave, err := b.enter(ctx, "", func(r *record) bool { return r.App.Name == h.App && r.App.Hook == h.URL })
	if err != nil {
		return nil, nil, nil, err
	}
	if err := v.can(serve.RightRead); err != nil {
		leave()
		return nil, nil, nil, err
	}
	return v, within, leave, nil
}

// conflict returns the open conflict of which a memory is a side, if the app may read every
// side as it is; otherwise nil. A conflict about a field that devices changed independently is
// not sent, because the app only sees the present text of a memory.
func (v *visit) conflict(ctx context.Context, in getter, m *memory.Memory) (*Conflict, error) {
	if m.Group == "" {
		return nil, nil
	}
	var group []memory.Assertion
	err := v.book.store.View(ctx, func(tx *store.Tx) (err error) {
		group, err = tx.GroupAssertions(m.Group)
		return err
	})
	if err != nil || len(group) < 2 {
		return nil, err
	}
	for _, c := range reconcile.Conflicts(group) {
		if c.Kind == reconcile.FieldConflict || !slices.ContainsFunc(c.Sides, func(s reconcile.Side) bool { return s.Memory == m.ID }) {
			continue
		}
		out := &Conflict{ID: c.ID, Kind: string(c.Kind)}
		for _, s := range c.Sides {
			seen, err := v.get(ctx, in, s.Memory)
			if errors.Is(err, memory.ErrNotFound) {
				out = nil
				break
			}
			if err != nil {
				return nil, err
			}
			out.Memories = append(out.Memories, seen)
		}
		if out != nil && len(out.Memories) > 1 && distinct(out.Memories) {
			out.Memories = out.Memories[:min(len(out.Memories), maxSides)]
			return out, nil
		}
	}
	return nil, nil
}

// maxSides is how many sides of a conflict an app is sent.
const maxSides = 32

// distinct reports whether no memory appears twice, as it does in a conflict about one memory's
// field.
func distinct(ms []memory.Memory) bool {
	seen := map[memory.ID]bool{}
	for i := range ms {
		seen[ms[i].ID] = true
	}
	return len(seen) == len(ms)
}

// settleTime is how long after its end a share's end is sent. Ends are stored in whole seconds,
// so by then every end of that second is known.
const settleTime = 2 * time.Second

// NextShareEnd returns the next share of a hook's app that has ended since the last one that was
// sent; nil: there is none. If the app may not share, there is none.
func (b *Book) NextShareEnd(ctx context.Context, h Hook) (*ShareEnd, error) {
	v, within, leave, err := b.entry(ctx, &h)
	if err != nil {
		return nil, err
	}
	defer leave()
	if v.can(serve.RightShare) != nil {
		return nil, nil
	}
	list, err := b.sharer.Shares(within)
	if errors.Is(err, serve.ErrUnsupported) { // there is no relay, and so there are no shares
		return nil, nil
	}
	var next *serve.Share
	after := func(s *serve.Share, at time.Time, id memory.SpaceID) bool {
		return cmp.Or(s.Revoked.Compare(at), bytes.Compare(s.ID[:], id[:])) > 0
	}
	for i := range list {
		s := &list[i]
		switch {
		case s.App != v.Name() || s.AppKey != v.by.Key || s.Revoked.IsZero() || b.now().Sub(s.Revoked) < settleTime:
		case after(s, h.Ended, h.EndedID) && (next == nil || after(next, s.Revoked, s.ID)):
			next = s
		}
	}
	if err != nil || next == nil {
		return nil, err
	}
	return &ShareEnd{next.ID, next.Title, next.Created, next.Expires, next.Revoked}, b.note(within, v, serve.AppUse{Did: "hook"})
}

// hooksOf adds the state of hooks to a list of apps.
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
			list[i].HookOff = fmt.Sprintf("failed %d times; the next try is at %s", h.Tries, h.Next.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// mayHook checks that a request has what its hook needs.
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
