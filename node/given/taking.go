package given

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// errNone is the error of a node without a reader's folder.
var errNone = fmt.Errorf("%w: this node has no folder for what others share", serve.ErrUnsupported)

// Key returns the wearer's key for readers; it is made at the first call.
func (s *Collection) Key() (k serve.GivenKey, err error) {
	if s == nil {
		return k, errNone
	}
	k.Key, k.Words, err = s.reader.Key()
	return k, err
}

// OpenShare opens the link of a share, and names its owner if from is given.
func (s *Collection) OpenShare(ctx context.Context, link, from string) (g serve.GivenShare, err error) {
	if s == nil {
		return g, errNone
	}
	if from = strings.TrimSpace(from); len(from) > memory.MaxName {
		return g, fmt.Errorf("%w: from: %d bytes, at most %d", memory.ErrInvalid, len(from), memory.MaxName)
	}
	l, err := share.ParseLink(link)
	if err != nil {
		return g, err
	}
	_, err = s.reader.Open(ctx, l) // without the lock, because the network may take long
	switch {
	case errors.Is(err, share.ErrNotShared):
		return g, fmt.Errorf("%w: the share was made for another key, or was revoked", memory.ErrNotFound)
	case err != nil:
		return g, fmt.Errorf("%w: %v", serve.ErrRelay, err)
	}
	if from != "" {
		if err := s.reader.Name(ctx, l.Space, from); err != nil {
			return g, err
		}
	}
	list, err := s.Shares(ctx)
	for _, g := range list {
		if g.ID == l.Space {
			return g, nil
		}
	}
	return g, errors.Join(err, fmt.Errorf("share %s: %w", l.Space, memory.ErrNotFound))
}

// Leave removes what was fetched of a share. A bundle that was bought is not searched
// any more, but the wearer can still open it.
func (s *Collection) Leave(space memory.SpaceID) error {
	if s == nil {
		return errNone
	}
	for _, o := range s.others {
		if err := o.StopSearching(space); !errors.Is(err, memory.ErrNotFound) {
			return err
		}
	}
	return s.reader.Drop(space)
}
