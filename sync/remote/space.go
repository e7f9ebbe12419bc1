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

// Space is one space at a relay, for one caller. Safe for concurrent use.
type Space struct {
	caller
	id memory.SpaceID
}

func (s *Space) path(rest string) string { return "/v1/spaces/" + s.id.String() + rest }

// Append sends deltas of this member, in order, in as many requests as it
// takes, and gives the cursor of each that was taken: all of them, or those
// before the error.
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

// Pull gives deltas after a cursor, in the relay's order, at most limit, and
// the cursor to ask after next. Where there are none it waits up to wait, 55 s
// at most, to the second. Each is parsed and of this space, and no more is
// checked.
func (s *Space) Pull(ctx context.Context, after uint64, limit int, wait time.Duration) ([]*envelope.Delta, uint64, error) {
	wait = min(wait.Truncate(time.Second), page.MaxWait*time.Second)
	q := url.Values{"after": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(min(max(limit, 1), page.MaxDeltas))}}
	if wait > 0 {
		q.Set("wait", strconv.Itoa(int(wait/time.Second)))
	}
	a, err := s.do(ctx, call{method: "GET", path: s.path("/deltas"), query: q, limit: page.MaxAnswer, wait: wait})
	if err != nil {
		return nil, after, err
	}
	placed, err := page.DecodePlaced(a.body, after)
	if err != nil {
		return nil, after, fmt.Errorf("pull deltas: %w: %v", ErrAnswer, err)
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

// Log gives all entries after number n, in order; none if there are none. It asks
// until it has them, and holds them to nothing but their form: who knows the log
// takes it by [Space.LogPage].
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

// maxEntries is how long a log is believed to be.
const maxEntries = 10_000

// LogPage gives entries after number n, in order, of which one answer has 16 at
// most; none if there are none.
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

// AppendLog sends the next entry; [ErrConflict] if another came first. invite
// is the code for a new account, with the entry that founds a space, or empty.
func (s *Space) AppendLog(ctx context.Context, e *envelope.Entry, invite string) error {
	q := call{method: "POST", path: s.path("/log"), body: e.Bytes()}
	if invite != "" {
		q.field = map[string]string{page.FieldInvite: invite}
	}
	_, err := s.do(ctx, q)
	return err
}

// Ref names a delta whose body goes.
type Ref struct {
	Member memory.MemberID
	envelope.Position
}

// Forget has the relay throw bodies away, and reports how many it had. A
// member may forget its own; an owner, anyone's.
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

// Delete removes the space from the relay, with all that is in it. Only its
// root may.
func (s *Space) Delete(ctx context.Context) error {
	_, err := s.do(ctx, call{method: "DELETE", path: s.path("")})
	return err
}

// Root is an account, for the holder of its key: who has lost every device
// finds the spaces here.
type Root struct{ caller }

// Space gives a space of the account, as the root sees it.
func (r *Root) Space(space memory.SpaceID) *Space { return &Space{caller: r.caller, id: space} }

// Account gives what the relay holds.
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
