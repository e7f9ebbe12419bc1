//go:build linux

package powerloss

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/store/journal"
)

func aKey() *seal.Key {
	k, err := seal.KeyFromBytes(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		panic(err)
	}
	return k
}

func storeOptions(root string) store.Options {
	return store.Options{Dir: filepath.Join(root, "store"), Key: aKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, AnchorEvery: 5}
}

var member = memory.MemberID{9}

func init() {
	replays["store"] = replayStore
	replays["journal"] = replayJournal
}

// replayStore makes a store, commits facts with utterances, blobs and segments, reopens it now and
// then, and compacts it.
func replayStore(root string, ack func(string) error) error {
	ctx := context.Background()
	for session := range 3 {
		s, err := store.Open(storeOptions(root))
		if err != nil {
			return err
		}
		for n := range 7 {
			blob, err := s.WriteBlob(ctx, strings.NewReader(fmt.Sprint("blob ", session, n)))
			if err != nil {
				return err
			}
			var seq uint64
			err = s.Update(ctx, func(tx *store.Tx) error {
				dot, err := tx.NextDot(member)
				if err != nil {
					return err
				}
				seq = dot.Seq
				_, err = tx.Assert(fact(dot))
				return errors.Join(err, tx.PutUtterance(&memory.Utterance{ID: memory.ID{1, byte(seq)}, At: at(seq), Text: fmt.Sprint("Utterance ", seq)}),
					tx.PutRemoteUtterance(&memory.Utterance{ID: elsewhere(seq), At: at(seq), Text: fmt.Sprint("Heard elsewhere ", seq)}),
					tx.KeepBlob(blob, memory.ID{2, byte(seq)}), tx.PutSegment(fmt.Sprint("words ", seq%3), seq, []byte("segment")),
					tx.SetCursor("facts", seq), tx.PutMeta("blob "+fmt.Sprint(seq), blob.ID))
			})
			if err != nil {
				return err
			}
			if err := ack(fmt.Sprint(seq)); err != nil {
				return err
			}
			if n%3 == 2 {
				err := s.Update(ctx, func(tx *store.Tx) error {
					_, _, err := tx.PackUtterances(time.Time{}, at(1023), math.MaxUint64)
					return err
				})
				if err != nil {
					return err
				}
			}
			if n == 4 {
				if err := s.Compact(ctx); err != nil {
					return err
				}
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere makes the id of something heard on another device from a number.
func elsewhere(seq uint64) memory.ID {
	return memory.ID(binary.BigEndian.AppendUint64([]byte{3, 0, 0, 0, 0, 0, 0, 0}, seq))
}

// at gives each of a few hundred consecutive numbers a second of its own.
func at(seq uint64) time.Time { return time.Unix(1_790_000_000+int64(seq%1024), 0).UTC() }

func fact(dot memory.Dot) memory.Assertion {
	text := fmt.Sprintf("Fact %d is so.", dot.Seq)
	c := memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: "ana"}, Confidence: 1, Sensitivity: memory.Personal,
		Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Seq: dot.Seq}, At: at(dot.Seq), Excerpt: text}}, Source: memory.Source{Plugin: "test"}}
	return memory.Assertion{Dot: dot, Clock: memory.Clock{Wall: at(dot.Seq).UnixMilli()}, Rank: memory.RankDevice, Space: memory.SpaceID{1}, Memory: memory.ID{2, byte(dot.Seq)},
		Act: memory.ActPropose, Candidate: &c, Source: c.Source}
}

func TestStore(t *testing.T) {
	cuts := replay(t, "store", true)
	open(t, cuts, func(dir string, acks []string) error {
		s, err := store.Open(storeOptions(dir))
		if err != nil {
			return err
		}
		damage, err := s.Verify(t.Context())
		for _, d := range damage {
			err = errors.Join(err, &d)
		}
		err = errors.Join(err, s.View(t.Context(), func(tx *store.Tx) error {
			for _, a := range acks {
				if err := holds(tx, a); err != nil {
					return fmt.Errorf("%s was acknowledged: %w", a, err)
				}
			}
			return nil
		}))
		// The store can be written again.
		err = errors.Join(err, s.Update(t.Context(), func(tx *store.Tx) error {
			dot, err := tx.NextDot(member)
			if err != nil {
				return err
			}
			_, err = tx.Assert(fact(dot))
			return err
		}))
		return errors.Join(err, s.Close())
	})
}

func holds(tx *store.Tx, ack string) error {
	var seq uint64
	if _, err := fmt.Sscan(ack, &seq); err != nil {
		return err
	}
	if _, err := tx.Memory(memory.ID{2, byte(seq)}); err != nil {
		return err
	}
	if _, err := tx.Utterance(memory.ID{1, byte(seq)}); err != nil {
		return err
	}
	if u, err := tx.Utterance(elsewhere(seq)); err != nil || u.Text != fmt.Sprint("Heard elsewhere ", seq) {
		return fmt.Errorf("what may be packed: %+v, %v", u, err)
	}
	var blob memory.ID
	if ok, err := tx.Meta("blob "+ack, &blob); err != nil || !ok {
		return errors.Join(err, errors.New("its blob is not named"))
	}
	b, err := tx.OpenBlob(blob)
	if err != nil {
		return err
	}
	if _, err = io.Copy(io.Discard, b); err != nil {
		return err
	}
	return b.Close()
}

func anIdentity() *seal.Identity { return seal.IdentityFromSeed(aKey()) }

// replayJournal appends, across several segments and sessions, and releases.
func replayJournal(root string, ack func(string) error) error {
	ctx := context.Background()
	for session := range 3 {
		j, err := journal.Open(filepath.Join(root, "journal"), anIdentity().Recipient(), journal.Options{MaxSegment: 4 << 10, Reserve: -1})
		if err != nil {
			return err
		}
		for n := range 12 {
			text := fmt.Sprintf("%d-%d-%s", session, n, strings.Repeat("x", 300))
			if _, err := j.Append(ctx, []byte(text)); err != nil {
				return err
			}
			if err := ack(fmt.Sprintf("%d-%d", session, n)); err != nil {
				return err
			}
		}
		if err := j.Close(); err != nil {
			return err
		}
	}
	return nil
}

func TestJournal(t *testing.T) {
	cuts := replay(t, "journal", false)
	open(t, cuts, func(dir string, acks []string) error {
		j, err := journal.Open(filepath.Join(dir, "journal"), anIdentity().Recipient(), journal.Options{Reserve: -1})
		if err != nil {
			return err
		}
		if _, err := j.Append(t.Context(), []byte("it goes on-")); err != nil {
			return err
		}
		if err := j.Close(); err != nil {
			return err
		}
		r, err := j.Reader(anIdentity(), 0)
		if err != nil {
			return err
		}
		defer r.Close()
		have := map[string]bool{}
		for {
			e, err := r.Next(t.Context())
			if errors.Is(err, journal.ErrClosed) {
				break
			}
			if err != nil {
				return err
			}
			name := string(e.Data)
			have[name[:strings.LastIndex(name, "-")]] = true
		}
		for _, a := range acks {
			if !have[a] {
				return fmt.Errorf("entry %s was acknowledged, and is not there", a)
			}
		}
		return nil
	})
}
