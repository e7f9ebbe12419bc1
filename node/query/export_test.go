package query

import (
	"context"

	"github.com/locket-dev/locket/memory/atlas"
)

// Atlas is what the graph is drawn from.
func (rd Reader) Atlas(ctx context.Context) (*atlas.Atlas, error) {
	_, a, err := rd.atlas(ctx)
	return a, err
}

// DropOverview forgets what is known of all memories.
func (rd Reader) DropOverview() {
	qr, release, err := rd.of.Use()
	if err != nil {
		panic(err)
	}
	defer release()
	qr.overview.drop()
}
