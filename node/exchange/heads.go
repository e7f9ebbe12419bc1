package exchange

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

func (sc Syncer) Heads(ctx context.Context) (serve.Heads, error) {
	_, r, err := sc.replica()
	if err != nil {
		return serve.Heads{}, err
	}
	h, err := r.Heads(ctx)
	if err != nil {
		return serve.Heads{}, err
	}
	return serve.Heads{Heads: h.String()}, nil
}

func (sc Syncer) CompareHeads(ctx context.Context, text string) (out serve.HeadsCompared, err error) {
	h, err := envelope.ParseHeadsText(text)
	if err != nil {
		return out, fmt.Errorf("%w: %v", memory.ErrInvalid, err)
	}
	sy, r, err := sc.replica()
	if err != nil {
		return out, err
	}
	roundErr := sy.Round(ctx, r)
	if ctx.Err() != nil {
		return out, roundErr
	}
	ds, err := r.Compare(ctx, h, roundErr == nil) // even if nobody can be reached, the deltas here may show forks
	if errors.Is(err, replica.ErrForeign) || errors.Is(err, envelope.ErrRule) || errors.Is(err, envelope.ErrSignature) {
		return out, fmt.Errorf("%w: %v", memory.ErrInvalid, err)
	}
	if err != nil {
		return out, err
	}
	out = serve.HeadsCompared{Member: h.Member, At: time.Unix(h.At, 0).UTC(), Same: true, Differences: []serve.HeadsDifference{}}
	for _, d := range ds {
		out.Same = out.Same && d.Verdict == replica.Behind
		out.Differences = append(out.Differences, serve.HeadsDifference{Verdict: string(d.Verdict), Member: d.Member, Seq: d.Seq, Here: d.Here, Text: d.String()})
	}
	return out, nil
}
