//go:build linux

package powerloss

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
	"github.com/locket-dev/locket/sync/replica"
)

func init() { replays["envelopes"] = replayEnvelopes }

// someEnvelopes makes content for an envelope store: the first entry of a space, and alternating
// deltas of its founder in two incarnations.
func someEnvelopes() (genesis *envelope.Entry, deltas []*envelope.Delta, err error) {
	key := func(n byte) ed25519.PrivateKey {
		var seed [ed25519.SeedSize]byte
		seed[0] = n
		return ed25519.NewKeyFromSeed(seed[:])
	}
	public := func(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }
	root, own := key(1), key(2)
	m := &envelope.Member{ID: memory.MemberID{1}, Key: public(own), Recipient: "age1pq1phone", Role: envelope.Owner}
	genesis = &envelope.Entry{Version: envelope.Version, Space: memory.SpaceID{1}, N: 1, Action: envelope.Found, Epoch: 1, At: 1_790_000_000,
		Root: public(root), Recovery: "age1pq1recovery", Member: m, Wraps: []envelope.Wrap{{Keys: []byte("keys")}, {To: m.ID, Keys: []byte("keys")}}}
	if err := genesis.Sign(envelope.KeySigner(root)); err != nil {
		return nil, nil, err
	}
	var last [2]envelope.Link
	for n := range 6 {
		l := &last[n%2]
		h := envelope.Header{Version: envelope.Version, Space: genesis.Space, Member: m.ID, Incarnation: uint64(n%2 + 1), Seq: l.Seq + 1, Prev: l.Hash,
			Head: genesis.Hash(), Epoch: 1}
		d, err := envelope.Sign(h, fmt.Appendf(nil, "body %d", n), envelope.KeySigner(own))
		if err != nil {
			return nil, nil, err
		}
		*l, deltas = d.Header.Next(), append(deltas, d)
	}
	return genesis, deltas, nil
}

// first is the place of the body that is removed.
func first(d *envelope.Delta) replica.Ref {
	return replica.Ref{Member: d.Header.Member, Position: d.Header.Position()}
}

// replayEnvelopes puts deltas into an envelope store, and removes the body of the first.
func replayEnvelopes(root string, ack func(string) error) error {
	genesis, deltas, err := someEnvelopes()
	if err != nil {
		return err
	}
	s, err := envstore.Open(filepath.Join(root, "shelf"), genesis.Bytes())
	if err != nil {
		return err
	}
	for n, d := range deltas {
		if _, err := s.TakeDelta(d); err != nil {
			return err
		}
		if err := ack(fmt.Sprint(n)); err != nil {
			return err
		}
	}
	if err := s.Forget(context.Background(), []replica.Ref{first(deltas[0])}); err != nil {
		return err
	}
	if err := ack("gone"); err != nil {
		return err
	}
	_, err = envstore.Open(filepath.Join(root, "shelf"), genesis.Bytes()) // this syncs, so that there is a cut after the last acknowledgement
	return err
}

// An envelope store has everything that it accepted, each in its place; what was removed does not
// come back.
func TestEnvelopes(t *testing.T) {
	genesis, deltas, err := someEnvelopes()
	if err != nil {
		t.Fatal(err)
	}
	cuts := replay(t, "envelopes", false)
	open(t, cuts, func(dir string, acks []string) error {
		s, err := envstore.Open(filepath.Join(dir, "shelf"), genesis.Bytes())
		if err != nil {
			return err
		}
		placed, err := s.Deltas(t.Context(), 0)
		if err != nil {
			return err
		}
		for n, said := range acks {
			if said == "gone" {
				if fresh, err := s.TakeDelta(deltas[0]); err != nil || fresh {
					return fmt.Errorf("what was taken away is back: %v, %w", fresh, err)
				}
				continue
			}
			if n >= len(placed) {
				return fmt.Errorf("delta %d was taken, and is not there", n)
			}
			d, err := envelope.ParseDelta(placed[n].Delta)
			if err != nil {
				return err
			}
			if d.Header.Hash() != deltas[n].Header.Hash() {
				return fmt.Errorf("delta %s is in the place of %d", d.Header.Position(), n)
			}
		}
		found, err := s.Check(t.Context())
		return errors.Join(append(found, err)...)
	})
}
