package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cloud/bucket"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/archive"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/cmd/internal/meter"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/progress"
)

func (a *app) backupCommand() *cobra.Command {
	var w where
	cmd := &cobra.Command{
		Use: "backup (--data DIR | --db URL --blobs URL) FILE", Short: "Back up a whole relay to a file while it serves", Args: one("FILE"),
		Long: `Write all current accounts, spaces, logs, deltas and blobs to FILE. The relay may
keep serving. A person who has the file can read only what the relay's operator
sees anyway (docs/privacy.md). Protect it like the relay itself.

The file can be restored into either kind of store: a relay that has grown moves
to PostgreSQL with 'backup --data' and 'restore --db'. With --db, the login must be
a member of locket_operator, which reads all tenants. The file does not contain a
market's money and keys.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.backup(cmd.Context(), w, args[0]) },
	}
	w.flags(cmd)
	cmd.Flags().Lookup("data").Usage = "`folder` of the relay's store: SQLite and files"
	return cmd
}

func (a *app) backup(ctx context.Context, w where, path string) (err error) {
	if err := w.check(); err != nil {
		return err
	}
	if w.db != "" && w.blobs == "" {
		return fmt.Errorf("%w: --db needs --blobs: where the blobs are", errUsage)
	}
	var from relay.Snapshot
	if w.db == "" {
		from, err = embedded.OpenSnapshot(ctx, w.data)
	} else {
		blobs, openErr := bucket.Open(ctx, w.blobs)
		if openErr != nil {
			return openErr
		}
		from, err = postgres.OpenSnapshot(ctx, w.db, blobs)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	var n archive.Count
	m := a.meter("back up", 0)
	err = atomicfile.Stream(path, func(out io.Writer) (err error) { // readable only by its owner
		n, err = archive.Backup(ctx, from, m.Writer(out))
		return err
	})
	m.End()
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return a.printCount("backed up", n)
}

func (a *app) restoreCommand() *cobra.Command {
	var w where
	verify := false
	cmd := &cobra.Command{
		Use: "restore (--data DIR | --db URL --blobs URL) FILE", Short: "Restore a backup into a store", Args: one("FILE"),
		Long: `Check FILE from beginning to end, including signatures, chains and hashes, and
then restore its content into a store. What already exists unchanged is kept. A
store with a different or newer version of a space is refused. An interrupted
restore can be repeated.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.restore(cmd.Context(), w, args[0], verify) },
	}
	w.flags(cmd)
	cmd.Flags().BoolVar(&verify, "verify", false, "only check the file, and restore nothing")
	return cmd
}

func (a *app) restore(ctx context.Context, w where, path string, verify bool) (err error) {
	if !verify {
		if err := w.check(); err != nil {
			return err
		}
		if w.db != "" && w.blobs == "" {
			return fmt.Errorf("%w: --db needs --blobs: where blobs go", errUsage)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	m := a.meter("check the file", info.Size())
	n, err := archive.Verify(ctx, bufio.NewReaderSize(m.Reader(f), 1<<20))
	m.End()
	if err != nil {
		return err
	}
	if verify {
		return a.printCount("complete", n)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	to, err := w.store(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	m = a.meter("restore", info.Size())
	n, err = archive.Restore(ctx, bufio.NewReaderSize(m.Reader(f), 1<<20), to)
	m.End()
	if err != nil {
		return err
	}
	return a.printCount("restored", n)
}

// meter shows the progress of work on a file of so many bytes; 0 means that nobody knows how many.
func (a *app) meter(what string, size int64) *meter.Meter {
	g := new(progress.Gauge)
	g.Total.Store(size / 1000)
	return meter.Start(a.stderr, a.json, g, what, "kB")
}

func (a *app) printCount(what string, n archive.Count) error {
	gone := ""
	if n.Gone > 0 {
		gone = fmt.Sprintf("\n%d blobs were deleted meanwhile", n.Gone)
	}
	return a.print(n, "%s: %d accounts, %d spaces, %d log entries, %d deltas, %d blobs of %d bytes%s", what, n.Accounts, n.Spaces, n.Entries, n.Deltas, n.Blobs, n.Bytes, gone)
}
