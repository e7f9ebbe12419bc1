package query

import (
	"context"

	"github.com/locket-dev/locket/memory/atlas"
)

// Atlas returns what the graph is drawn from.
func (rd Reader) Atlas(ctx context.Context) (*atlas.Atlas, error) {
	_, a, err := rd.atlas(ctx)
	return a, err
}

// DropOverview discards what is cached about all memories.
func (rd Reader) DropOverview() {
	qr, release, err := rd.of.Use()
	if err != nil {
		panic(err)
	}
	defer release()
	if err := qr.overview.drop(context.Background()); err != nil {
		panic(err)
	}
}

// KnowsOverview returns for how many memories something is cached.
func (rd Reader) KnowsOverview() int {
	qr, release, err := rd.of.Use()
	if err != nil {
		panic(err)
	}
	defer release()
	if err := qr.overview.acquire(context.Background()); err != nil {
		panic(err)
	}
	defer qr.overview.release()
	return len(qr.overview.by)
}

// HoldOverview keeps everybody else from using it until release is called.
func (rd Reader) HoldOverview(ctx context.Context) (release func()) {
	qr, done, err := rd.of.Use()
	if err != nil {
		panic(err)
	}
	if err := qr.overview.acquire(ctx); err != nil {
		panic(err)
	}
	return func() { qr.overview.release(); done() }
}
