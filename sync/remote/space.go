package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/page"
)

// Space is a space at a relay, for one caller. It is safe for concurrent use.
type Space struct {
	caller
	id memory.SpaceID
}

func (s *Space) path(rest string) string { return "/v1/spaces/" + s.id.String() + rest }

// Append sends deltas of this member, in order, in as many requests as needed. It
// returns the cursor of each delta that the relay took. After an error these are
// the deltas before it.
func (s *Space) Append(ctx context.Context, deltas []*envelope.Delta) ([]uint64, error) {
	var cursors []uint64
	for len(deltas) > 0 {
		var items [][]byte
		for size := 0; len(items) < min(len(deltas), page.MaxDeltas); {
			b := deltas[len(items)].Bytes()
			if size += len(b) + 9; size > page.MaxRequest && len(items) > 0 {
				break
			}
			items = append(items, b)
		}
		a, err := s.do(ctx, call{method: "POST", path: s.path("/deltas"), body: page.EncodeItems(items), limit: 16 * page.MaxDeltas})
		if err != nil {
			return cursors, err
		}
		got, err := page.DecodeCursors(a.body, len(items))
		if err != nil {
			return cursors, fmt.Errorf("append deltas: %w: %v", ErrAnswer, err)
		}
		cursors, deltas = append(cursors, got...), deltas[len(items):]
	}
	return cursors, nil
}

// Pull returns the deltas after a cursor, in the relay's order, at most limit,
// and the cursor for the next call. If there are none, it waits up to wait, which
// is rounded to seconds and is at most 55 s. Pull checks that each delta has the
// right form and is of this space, and nothing else.
func (s *Space) Pull(ctx context.Context, after uint64, limit int, wait time.Duration) ([]*envelope.Delta, uint64, error) {
	placed, err := s.placed(ctx, after, limit, min(wait.Truncate(time.Second), page.MaxWait*time.Second))
	if err != nil {
		return nil, after, err
	}
	ds := make([]*envelope.Delta, len(placed))
	for i, p := range placed {
		d, err := envelope.ParseDelta(p.Delta)
		if err == nil && d.Header.Space != s.id {
			err = fmt.Errorf("of space %s", d.Header.Space)
		}
		if err != nil {
			return nil, after, fmt.Errorf("pull delta %d: %w: %v", p.Cursor, ErrAnswer, err)
		}
		ds[i] = d
	}
	return ds, after + uint64(len(ds)), nil
}

// Log returns all entries after number n, in order. It sends as many requests as
// needed, and checks only the form of the entries. A caller that checks entries
// against the log uses [Space.LogPage].
func (s *Space) Log(ctx context.Context, n uint64) (out []*envelope.Entry, err error) {
	for {
		some, err := s.LogPage(ctx, n+uint64(len(out)))
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			return out, nil
		}
		if out = append(out, some...); len(out) > maxEntries {
			return nil, fmt.Errorf("read log: %w: over %d entries", ErrAnswer, maxEntries)
		}
	}
}

// maxEntries is the greatest length of a log that is accepted.
const maxEntries = 10_000

// LogPage returns the next entries after number n, in order, at most 16; none if
// there are none.
func (s *Space) LogPage(ctx context.Context, n uint64) ([]*envelope.Entry, error) {
	q := url.Values{"after": {strconv.FormatUint(n, 10)}}
	a, err := s.do(ctx, call{method: "GET", path: s.path("/log"), query: q, limit: page.MaxAnswer})
	if err != nil {
		return nil, err
	}
	items, err := page.DecodeItems(a.body, page.MaxEntries)
	if err != nil {
		return nil, fmt.Errorf("read log: %w: %v", ErrAnswer, err)
	}
	var out []*envelope.Entry
	for _, item := range items {
		want := n + uint64(len(out)) + 1
		e, err := envelope.ParseEntry(item)
		if err == nil && (e.Space != s.id || e.N != want) {
			err = fmt.Errorf("it is %d of %s", e.N, e.Space)
		}
		if err != nil {
			return nil, fmt.Errorf("read log entry %d: %w: %v", want, ErrAnswer, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// AppendLog sends the next entry. It returns [ErrConflict] if another entry came
// first. invite is the invitation code for a new account. It is sent with the
// entry that founds a space, and is empty otherwise.
func (s *Space) AppendLog(ctx context.Context, e *envelope.Entry, invite string) error {
	q := call{method: "POST", path: s.path("/log"), body: e.Bytes()}
	if invite != "" {
		q.field = map[string]string{page.FieldInvite: invite}
	}
	_, err := s.do(ctx, q)
	return err
}

// Ref names a delta whose body is to be removed.
type Ref struct {
	Member memory.MemberID
	envelope.Position
}

// Forget tells the relay to delete bodies, and returns how many it deleted. A
// member may do so for its own deltas, an owner for all.
func (s *Space) Forget(ctx context.Context, refs []Ref) (int, error) {
	n := 0
	for len(refs) > 0 {
		batch := refs[:min(len(refs), page.MaxRefs)]
		out := make([]page.Ref, len(batch))
		for i, r := range batch {
			out[i] = page.Ref{Member: r.Member, Incarnation: r.Incarnation, Seq: r.Seq}
		}
		a, err := s.do(ctx, call{method: "POST", path: s.path("/forget"), body: page.EncodeRefs(out), limit: 1 << 10})
		if err != nil {
			return n, err
		}
		var v struct {
			Forgotten int `json:"forgotten"`
		}
		if err := json.Unmarshal(a.body, &v); err != nil || v.Forgotten < 0 || v.Forgotten > len(batch) {
			return n, fmt.Errorf("forget: %w", ErrAnswer)
		}
		n, refs = n+v.Forgotten, refs[len(batch):]
	}
	return n, nil
}

// Delete removes the space with all its content from the relay. Only its root may
// do this.
func (s *Space) Delete(ctx context.Context) error {
	_, err := s.do(ctx, call{method: "DELETE", path: s.path("")})
	return err
}

// Root is an account, for the holder of its root key. A person who lost all
// devices can find the spaces with it.
type Root struct{ caller }

// Space returns a space of the account, for the root.
func (r *Root) Space(space memory.SpaceID) *Space { return &Space{caller: r.caller, id: space} }

// Account returns what the relay stores for the account.
func (r *Root) Account(ctx context.Context) (page.Account, error) {
	var v page.Account
	a, err := r.do(ctx, call{method: "GET", path: "/v1/account", limit: 64 * page.MaxSpaces})
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(a.body, &v); err != nil {
		return v, fmt.Errorf("account: %w: %v", ErrAnswer, err)
	}
	return v, nil
}

// Delete removes the account and all its spaces from the relay.
func (r *Root) Delete(ctx context.Context) error {
	_, err := r.do(ctx, call{method: "DELETE", path: "/v1/account"})
	return err
}
