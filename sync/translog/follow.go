package translog

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// TileHeight is that of c2sp.org/tlog-tiles: 256 hashes per tile.
const TileHeight = 8

// Source returns the tiles of a log. They are checked, so anybody may serve them. A tile may be
// wider than requested.
type Source interface {
	Tile(context.Context, tlog.Tile) ([]byte, error)
}

// Fork proves that the operator of a log signed two histories. It convinces everybody who has the
// operator's key, without the operator's help.
type Fork struct {
	Origin string
	Small  []byte    // signed checkpoint
	Large  []byte    // signed checkpoint with at least as many entries
	Prefix tlog.Hash // hash of the first entries of Large, as many as Small has
	Proof  tlog.TreeProof
}

func (f *Fork) Error() string {
	return fmt.Sprintf("the operator of %s signed two histories", f.Origin)
}

// Check checks the evidence: it returns nil if the log with this key signed two histories.
func (f *Fork) Check(log note.Verifier) error {
	small, err := Open(f.Small, log)
	if err != nil {
		return err
	}
	large, err := Open(f.Large, log)
	if err != nil {
		return err
	}
	if small.Size == 0 || small.Size > large.Size || f.Prefix == small.Root {
		return fmt.Errorf("%w: these are one history", ErrProof)
	}
	return consistent(small.Size, f.Prefix, large.Checkpoint, f.Proof)
}

// MarshalJSON encodes the evidence as a file that can be passed on.
func (f *Fork) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"origin": f.Origin, "small": string(f.Small), "large": string(f.Large), "prefix": f.Prefix.String(), "proof": Lines(f.Proof)})
}

// UnmarshalJSON decodes what MarshalJSON returned. [Fork.Check] checks it.
func (f *Fork) UnmarshalJSON(raw []byte) error {
	var d struct {
		Origin, Small, Large, Prefix string
		Proof                        []string
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	p, err := tlog.ParseHash(d.Prefix)
	if err != nil {
		return fmt.Errorf("%w: prefix %q", ErrProof, d.Prefix)
	}
	*f = Fork{Origin: d.Origin, Small: []byte(d.Small), Large: []byte(d.Large), Prefix: p}
	f.Proof, err = Hashes(d.Proof)
	return err
}

// Lines encodes a proof as it is sent: hashes in base64.
func Lines(proof []tlog.Hash) []string {
	lines := make([]string, len(proof))
	for i, h := range proof {
		lines[i] = h.String()
	}
	return lines
}

// Hashes decodes what Lines returned.
func Hashes(lines []string) ([]tlog.Hash, error) {
	if len(lines) > 64 {
		return nil, fmt.Errorf("%w: %d hashes", ErrProof, len(lines))
	}
	var all []tlog.Hash
	for _, l := range lines {
		raw, err := base64.StdEncoding.DecodeString(l)
		if err != nil || len(raw) != tlog.HashSize {
			return nil, fmt.Errorf("%w: hash %q", ErrProof, l)
		}
		all = append(all, tlog.Hash(raw))
	}
	return all, nil
}

// Included checks that the log has the bytes of an entry at index n.
func Included(c Checkpoint, n int64, entry []byte, proof tlog.RecordProof) error {
	if n < 0 || n >= c.Size {
		return fmt.Errorf("%w: entry %d of %d", ErrProof, n, c.Size)
	}
	if err := tlog.CheckRecord(proof, c.Size, c.Root, n, tlog.RecordHash(entry)); err != nil {
		return fmt.Errorf("%w: entry %d: %w", ErrProof, n, err)
	}
	return nil
}

// Consistent checks that a proof shows that large begins with small.
func Consistent(small, large Checkpoint, proof tlog.TreeProof) error {
	if small.Origin != large.Origin {
		return fmt.Errorf("%w: %s and %s are two logs", ErrProof, small.Origin, large.Origin)
	}
	return consistent(small.Size, small.Root, large, proof)
}

func consistent(n int64, root tlog.Hash, large Checkpoint, proof tlog.TreeProof) error {
	switch {
	case n > large.Size:
		return fmt.Errorf("%w: %d entries are not the beginning of %d", ErrProof, n, large.Size)
	case n == 0 || n == large.Size:
		if len(proof) != 0 || n > 0 && root != large.Root { // all empty logs are equal
			return fmt.Errorf("%w: %d and %d entries", ErrProof, n, large.Size)
		}
		return nil
	}
	if err := tlog.CheckTree(proof, large.Size, large.Root, n, root); err != nil {
		return fmt.Errorf("%w: %w", ErrProof, err)
	}
	return nil
}

// Follow returns which of two checkpoints of a log to keep, after checking that one is the
// beginning of the other: the larger one. It returns a [*Fork] if they are two histories, and
// [ErrTiles] if the tiles of the source show neither. If last is nil, next is the first checkpoint
// that is seen.
func Follow(ctx context.Context, last, next *Signed, from Source) (*Signed, error) {
	if last == nil {
		return next, nil
	}
	if last.Origin != next.Origin {
		return nil, fmt.Errorf("%w: %s and %s are two logs", ErrCheckpoint, last.Origin, next.Origin)
	}
	small, large := last, next
	if small.Size > large.Size {
		small, large = large, small
	}
	if small.Size == 0 {
		return large, nil
	}
	fork := &Fork{Origin: last.Origin, Small: small.Note, Large: large.Note, Prefix: large.Root}
	if small.Size < large.Size {
		r := Reader(ctx, large.Checkpoint, from)
		var err error
		if fork.Prefix, err = tlog.TreeHash(small.Size, r); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrTiles, err)
		}
		if fork.Prefix != small.Root {
			if fork.Proof, err = tlog.ProveTree(large.Size, small.Size, r); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrTiles, err)
			}
		}
	}
	if fork.Prefix != small.Root {
		return nil, fork
	}
	if large.Size == last.Size {
		return last, nil
	}
	return next, nil
}

// Reader returns the hashes of a log, each checked against a checkpoint. [tlog.ProveRecord] and
// [tlog.ProveTree] make proofs with it.
func Reader(ctx context.Context, c Checkpoint, from Source) tlog.HashReader {
	return tlog.TileHashReader(c.tree(), tiles{ctx, from})
}

// tiles adapts a Source to [tlog.TileReader], which has no context.
type tiles struct {
	ctx  context.Context // context of the call of Reader
	from Source
}

func (t tiles) Height() int { return TileHeight }

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	all := make([][]byte, len(wanted))
	for i, w := range wanted {
		raw, err := t.from.Tile(t.ctx, w)
		if err != nil {
			return nil, err
		}
		if len(raw) < w.W*tlog.HashSize {
			return nil, errors.New("tile " + w.Path() + " is short")
		}
		all[i] = raw[:w.W*tlog.HashSize]
	}
	return all, nil
}

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}
