package market

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

// hasNever reports whether a word that is never shared is in a version: in what everybody reads of
// it, or in what its buyers get. The wearer may have added the word after it was listed. A version
// whose items are not kept here, because an older program listed it, can't be checked.
func (s *Shop) hasNever(ctx context.Context, l *listed) (bool, error) {
	if s.c.NeverShared == nil {
		return false, nil
	}
	words, err := s.c.NeverShared(ctx)
	if err != nil || len(words) == 0 {
		return false, err
	}
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	if s.clean[l.Version] == sum {
		return false, nil
	}
	_, c, err := offeredIn(s.c.Dir, l.Version)
	if errors.Is(err, ErrNotKept) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	by, o := share.NewRedactor(share.Redaction{Words: words}, share.Vocabulary{}, nil), c.offer
	if slices.ContainsFunc(slices.Concat([]string{o.Title, o.Description, o.Licence, o.Terms}, o.Categories, o.Sample), by.Holds) {
		return true, nil
	}
	ms, err := s.readings(l, &c)
	if err != nil {
		return false, err
	}
	for i := range ms {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if by.HoldsAny(&ms[i]) {
			return true, nil
		}
	}
	s.clean[l.Version] = sum
	return false, nil
}

// readings opens what the buyers of a version get. An item of a marked bundle is there twice: with
// the first form at each spot, and with the second. What is not from a memory is left out.
func (s *Shop) readings(l *listed, c *carried) ([]memory.Candidate, error) {
	if len(l.Key) == 0 || l.sellsEntry() {
		return nil, nil
	}
	k, err := seal.KeyFromBytes(l.Key)
	if err != nil {
		return nil, err
	}
	defer k.Zero()
	if c.offer.Marks == 0 {
		return bundle.Open(&c.offer.Listing, &bundle.Keys{Bundle: k}, c.items)
	}
	marking, forms, of, err := s.forms(k, c)
	if err != nil {
		return nil, err
	}
	marking.Zero()
	var out []memory.Candidate
	for i, t := range forms {
		for form := range 2 {
			m := of[i]
			m.Text = t.WithForms(func(int) int { return form })
			out = append(out, m)
		}
	}
	return out, nil
}
