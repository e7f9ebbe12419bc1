package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cloud/bucket"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/postgres"
)

// where names a store: a folder, or a database and a place for blobs.
type where struct{ data, db, blobs string }

func (w *where) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&w.data, "data", "", "`folder` of the relay's store (SQLite and files), made if it does not exist")
	fl.StringVar(&w.db, "db", "", "`URL` of a PostgreSQL database, postgres://…, instead of --data")
	fl.StringVar(&w.blobs, "blobs", "", "with --db: `URL` for blobs: s3://…, gs://…, azblob://… or file:///DIR")
}

func (w *where) check() error {
	switch {
	case w.data == "" && w.db == "":
		return fmt.Errorf("%w: --data DIR or --db URL is missing: where the relay's store is", errUsage)
	case w.data != "" && w.db != "":
		return fmt.Errorf("%w: --data or --db, not both", errUsage)
	case w.db == "" && w.blobs != "":
		return fmt.Errorf("%w: --blobs needs --db; with --data, blobs are in its folder", errUsage)
	}
	return w.checkDatabase()
}

func (w *where) checkDatabase() error {
	if w.db != "" && !strings.HasPrefix(w.db, "postgres://") && !strings.HasPrefix(w.db, "postgresql://") {
		return fmt.Errorf("%w: --db: want a URL such as postgres://USER@HOST/DATABASE", errUsage)
	}
	return nil
}

// store opens the store.
func (w *where) store(ctx context.Context) (relay.Restorer, error) {
	if w.db == "" {
		return embedded.Open(ctx, w.data)
	}
	blobs, err := bucket.Open(ctx, w.blobs)
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, w.db, blobs)
}

// String names the store, without secrets.
func (w *where) String() string {
	if w.db == "" {
		return w.data
	}
	u, err := url.Parse(w.db)
	if err != nil {
		return "postgres"
	}
	u.RawQuery = ""
	return u.Redacted()
}
