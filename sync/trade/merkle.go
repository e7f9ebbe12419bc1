package trade

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// The tree over sealed items is that of RFC 6962, section 2.1.

// hashes has all hashes of a tree, in tlog's order.
type hashes []tlog.Hash

// ReadHashes implements tlog.HashReader.
func (h hashes) ReadHashes(at []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(at))
	for i, n := range at {
		if n < 0 || n >= int64(len(h)) {
			return nil, fmt.Errorf("%w: hash %d of %d", ErrRoot, n, len(h))
		}
		out[i] = h[n]
	}
	return out, nil
}

func tree(items [][]byte) (hashes, error) {
	var h hashes
	for i, item := range items {
		more, err := tlog.StoredHashes(int64(i), item, h)
		if err != nil {
			return nil, err
		}
		h = append(h, more...)
	}
	return h, nil
}

// Root returns the hash of the tree over sealed items, and their size. It checks their number and
// sizes.
func Root(items [][]byte) (root Hash, size uint64, err error) {
	if len(items) == 0 || len(items) > MaxItems {
		return root, 0, fmt.Errorf("items: %w: %d, want 1 to %d", ErrForm, len(items), MaxItems)
	}
	for i, item := range items {
		if len(item) == 0 || len(item) > MaxItem {
			return root, 0, fmt.Errorf("item %d: %w: %d bytes, want 1 to %d", i, ErrForm, len(item), MaxItem)
		}
		size += uint64(len(item))
	}
	if size > MaxBundle {
		return root, size, fmt.Errorf("items: %w: %d bytes, at most %d", ErrForm, size, MaxBundle)
	}
	h, err := tree(items)
	if err != nil {
		return root, size, err
	}
	r, err := tlog.TreeHash(int64(len(items)), h)
	return Hash(r), size, err
}

// Path returns the proof that items[i] is under the items' root.
func Path(items [][]byte, i int) ([]Hash, error) {
	h, err := tree(items)
	if err != nil {
		return nil, err
	}
	proof, err := tlog.ProveRecord(int64(len(items)), int64(i), h)
	if err != nil {
		return nil, fmt.Errorf("item %d: %w", i, err)
	}
	out := make([]Hash, len(proof))
	for i, p := range proof {
		out[i] = Hash(p)
	}
	return out, nil
}

// CheckPath checks that item is at index i of a bundle of n items.
func CheckPath(root Hash, n, i int, item []byte, path []Hash) error {
	proof := make(tlog.RecordProof, len(path))
	for i, p := range path {
		proof[i] = tlog.Hash(p)
	}
	if err := tlog.CheckRecord(proof, int64(n), tlog.Hash(root), int64(i), tlog.RecordHash(item)); err != nil {
		return fmt.Errorf("item %d: %w", i, ErrRoot)
	}
	return nil
}

// CheckSent checks what is sent with a listing: the items of its bundle, or none if it sells
// answers.
func CheckSent(l *Listing, items [][]byte) error {
	switch {
	case l.Answers == nil:
		return CheckItems(l, items)
	case len(items) > 0:
		return fmt.Errorf("bundle of %d items: %w: a seller of answers keeps it", len(items), ErrForm)
	}
	return nil
}

// CheckItems checks all items of a bundle against the listing.
func CheckItems(l *Listing, items [][]byte) error {
	root, size, err := Root(items)
	switch {
	case err != nil:
		return err
	case len(items) != int(l.Items) || size != l.Size || root != l.Root:
		return fmt.Errorf("bundle of %d items and %d bytes: %w", len(items), size, ErrRoot)
	}
	return nil
}
