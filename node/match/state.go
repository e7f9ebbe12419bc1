package match

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/intersect"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
)

// FORMAT of the file: JSON, sealed with the reader's key for interests (crypto/seal, the
// associated data is the name of the file). It is written completely before a message is
// sent.
const (
	folder   = "matches"
	fileName = "interests.sealed"
	mostRuns = 64 // comparisons that are stored; the oldest is dropped first
)

type state struct {
	Version   int       `json:"version"` // 1
	Interests []string  `json:"interests,omitempty"`
	Runs      []*run    `json:"runs,omitempty"`  // the oldest first
	Begun     []attempt `json:"begun,omitempty"` // of the last period, including comparisons that were forgotten
}

// attempt records that a comparison was begun, by either side.
type attempt struct {
	Peer []byte    `json:"peer"`
	ID   [16]byte  `json:"id"`
	At   time.Time `json:"at"`
}

// run is a comparison.
type run struct {
	ID      [16]byte              `json:"id"`
	Name    string                `json:"name"`
	Peer    envelope.Request      `json:"peer"`
	Asked   bool                  `json:"asked,omitempty"` // the wearer asked, and not the peer
	Began   time.Time             `json:"began"`
	Offered []string              `json:"offered"` // the wearer's interests
	Side    *intersect.Side       `json:"side,omitempty"`
	Mine    *intersect.Offer      `json:"mine,omitempty"`
	Theirs  *intersect.Offer      `json:"theirs,omitempty"`
	Bodies  [2][]byte             `json:"bodies"` // hashes of the bodies of asks and answers
	Heard   map[uint][]byte       `json:"heard"`  // hashes of the peer's bodies, by kind
	Count   *int                  `json:"count,omitempty"`
	Agreed  bool                  `json:"agreed,omitempty"`
	Which   *intersect.Evaluation `json:"which,omitempty"` // the peer's answer
	Told    bool                  `json:"told,omitempty"`
	Both    []string              `json:"both,omitempty"`
	Sent    map[uint]string       `json:"sent,omitempty"` // texts of the wearer's messages, by kind
	Ended   string                `json:"ended,omitempty"`
}

// in reads the state, calls f, and before it returns writes what f has changed, if f says
// so. Nobody else changes the state meanwhile.
func (m *Matcher) in(ctx context.Context, f func(*keyring.Device, *state) (changed bool, err error)) (err error) {
	d, err := m.device()
	if err != nil {
		return err
	}
	defer d.Zero()
	path := filepath.Join(m.Dir, folder, fileName)
	l, err := filelock.Take(path + ".lock")
	for ; errors.Is(err, memory.ErrInUse); l, err = filelock.Take(path + ".lock") {
		if !wait.For(ctx, 20*time.Millisecond) {
			return errors.Join(ctx.Err(), err)
		}
	}
	if err != nil {
		return fmt.Errorf("interests: %w", err)
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	key := d.InterestsKey()
	defer key.Zero()
	s := &state{Version: 1}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("interests: %w", err)
	default:
		if b, err = key.Open(nil, b, []byte(fileName)); err == nil {
			err = json.Unmarshal(b, s)
		}
		if err == nil && s.Version != 1 {
			err = fmt.Errorf("version %d; this program knows 1", s.Version)
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %v", path, memory.ErrDamaged, err)
		}
	}
	write := func() error {
		b, err := json.Marshal(s)
		if err == nil {
			err = atomicfile.Write(path, key.Seal(nil, b, []byte(fileName)))
		}
		if err != nil {
			return fmt.Errorf("interests: %w", err)
		}
		return nil
	}
	if s.tidy(m.now()) {
		if err := write(); err != nil {
			return err
		}
	}
	changed, err := f(d, s)
	if !changed {
		return err
	}
	return errors.Join(err, write())
}

// tidy drops what no limit and no comparison needs any more. If something began at a time in
// the future, it counts as begun now, and the state has to be saved: a clock that was set
// back makes no room, and one that was once ahead takes room for a period, not for years.
func (s *state) tidy(now time.Time) (pulled bool) {
	s.Begun = slices.DeleteFunc(s.Begun, func(a attempt) bool { return now.Sub(a.At) >= Period })
	for i := range s.Begun {
		if s.Begun[i].At.After(now) {
			s.Begun[i].At, pulled = now, true
		}
	}
	for _, r := range s.Runs {
		if r.Began.After(now) {
			r.Began, pulled = now, true
		}
		if r.Ended == "" && now.Sub(r.Began) >= Period {
			r.end("its time is over")
		}
	}
	return pulled
}

// begin counts a comparison, and stores it. It refuses with ErrTooSoon.
func (s *state) begin(d *keyring.Device, r *run, now time.Time) error {
	old := func(o *run) bool { return o.Name == r.Name && o.Ended != "" && bytes.Equal(o.Peer.Key, r.Peer.Key) }
	switch {
	case len(s.Interests) == 0:
		return fmt.Errorf("%w: you have chosen no interests: locket match interests --add WORDS", memory.ErrInvalid)
	case bytes.Equal(r.Peer.Key, d.Key()):
		return fmt.Errorf("%w: this is the key of this home", memory.ErrInvalid)
	case strings.TrimSpace(r.Name) == "" || len(r.Name) > memory.MaxName:
		return fmt.Errorf("%w: name: %d bytes, want 1 to %d", memory.ErrInvalid, len(r.Name), memory.MaxName)
	case slices.ContainsFunc(s.Runs, func(o *run) bool { return o.Name == r.Name && !old(o) }):
		return fmt.Errorf("%w: there is a comparison with %q: forget it first, or say another name", memory.ErrInvalid, r.Name)
	}
	// The asker chooses the id, which must identify one comparison here.
	taken := slices.ContainsFunc(s.Runs, func(o *run) bool { return o.ID == r.ID })
	for _, a := range s.Begun {
		taken = taken || a.ID == r.ID
		if bytes.Equal(a.Peer, r.Peer.Key) {
			return fmt.Errorf("%w: a comparison with this key began on %s; the next one can begin on %s", ErrTooSoon, a.At.Format(time.DateOnly), a.At.Add(Period).Format(time.DateOnly))
		}
	}
	if taken {
		return fmt.Errorf("%w: its id is that of another comparison", ErrMessage)
	}
	if len(s.Begun) >= MostAtOnce {
		return fmt.Errorf("%w: %d comparisons were begun within %d days, which is the most", ErrTooSoon, len(s.Begun), int(Period.Hours()/24))
	}
	s.Begun = append(s.Begun, attempt{r.Peer.Key, r.ID, now})
	r.Offered = slices.Clone(s.Interests)
	s.Runs = slices.DeleteFunc(s.Runs, old)
	s.Runs = append(s.Runs, r)
	s.Runs = s.Runs[max(0, len(s.Runs)-mostRuns):]
	return nil
}

// find finds a comparison by the peer's name, or the beginning of its id.
func (s *state) find(which string) (*run, error) {
	var found []*run
	for _, r := range s.Runs {
		if r.Name == which {
			return r, nil
		}
		if len(which) >= 4 && strings.HasPrefix(idText(r.ID), which) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("comparison %.40q: %w", which, memory.ErrNotFound)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("comparison %.40q: %w", which, memory.ErrAmbiguous)
}

// end drops the secrets of a comparison.
func (r *run) end(why string) {
	r.Ended, r.Side, r.Mine, r.Theirs, r.Which = why, nil, nil, nil, nil
}

func (r *run) alive() error {
	if r.Ended != "" {
		return fmt.Errorf("%w: with %s: %s", ErrEnded, r.Name, r.Ended)
	}
	return nil
}

func (r *run) toAPI() serve.Comparison {
	return serve.Comparison{ID: idText(r.ID), Name: r.Name, Words: share.Words(r.Peer.Key), Began: r.Began, Offered: len(r.Offered), Count: r.Count,
		Agreed: r.Agreed, Told: r.Told, Both: r.Both, Ended: r.Ended}
}
