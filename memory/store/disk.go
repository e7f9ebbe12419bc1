package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/badgerfile"
)

// Badger is set up small: 20 to 30 MB resident with everything else. Values
// never reach the value threshold (see maxValue), so that the value log stays
// empty: there is nothing in it to collect, and nothing to forget.
const (
	memTable       = 4 << 20
	cache          = 4 << 20
	smallCache     = 2 << 20
	valueLog       = 1 << 20 // the least that Badger takes; nothing is written to it
	valueThreshold = 512 << 10

	// baseTable is the size of tables on the lowest level in use; those of the level
	// below it are twice as large. Badger builds a table in four to six times its size,
	// and keeps the memory of eight builders: with its own 2 MB they held 100 MB
	// during a first sync.
	baseTable = 512 << 10
)

// openBadger opens or makes a database in dir, encrypted under the disk key. A
// file that was altered is a [Damage].
func openBadger(dir string, key []byte, small bool, log *slog.Logger) (*badger.DB, error) {
	if err := atomicfile.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	opt := badgerOptions(dir, key).WithLogger(badgerLog{log})
	if small {
		opt = opt.WithNumMemtables(1).WithBlockCacheSize(smallCache).WithIndexCacheSize(smallCache)
	}
	if err := checkFiles(dir, opt); err != nil {
		return nil, err
	}
	if err := badgerfile.DropUnborn(dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	db, err := badger.Open(opt)
	if errors.Is(err, badger.ErrEncryptionKeyMismatch) {
		return nil, fmt.Errorf("store: %s is under another key: %w", dir, memory.ErrLocked)
	}
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", dir, err)
	}
	return db, nil
}

// checkFiles looks at the files in dir before Badger does.
func checkFiles(dir string, opt badger.Options) error {
	return fileError(badgerfile.Check(dir, filepath.Join(filepath.Dir(dir), spareName), opt))
}

// fileError says of a file that is not as it was written, or is under another key,
// what the store's callers know.
func fileError(err error) error {
	if d, ok := errors.AsType[*badgerfile.Damage](err); ok {
		return fileDamage(d)
	}
	switch {
	case errors.Is(err, badgerfile.ErrKey):
		return fmt.Errorf("store: %w: %w", err, memory.ErrLocked)
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

func badgerOptions(dir string, key []byte) badger.Options {
	return badger.DefaultOptions(dir).
		WithMetricsEnabled(false).
		WithEncryptionKey(key).
		WithSyncWrites(true).
		WithDetectConflicts(false). // there is one writer
		WithBypassLockGuard(true).  // the store has its own lock, over blobs and anchor too
		WithNumCompactors(2).
		WithNumMemtables(2).
		WithMemTableSize(memTable).
		WithBaseTableSize(baseTable).
		WithBlockCacheSize(cache).
		WithIndexCacheSize(cache).
		WithValueLogFileSize(valueLog).
		WithValueThreshold(valueThreshold).
		WithCompression(options.None).                    // values are sealed: they don't compress
		WithChecksumVerificationMode(options.OnBlockRead) // checkFiles reads the whole of each table
}

// badgerLog passes on what Badger says: files, sizes and levels, never values.
type badgerLog struct{ log *slog.Logger }

func (l badgerLog) Errorf(f string, a ...any) { l.say(slog.LevelError, f, a) }
func (l badgerLog) Warningf(f string, a ...any) {
	level := slog.LevelWarn
	if strings.Contains(f, "might be too small") || strings.Contains(f, "life expectancy") { // they are small on purpose
		level = slog.LevelDebug
	}
	l.say(level, f, a)
}
func (l badgerLog) Infof(f string, a ...any)  { l.say(slog.LevelDebug, f, a) }
func (l badgerLog) Debugf(f string, a ...any) { l.say(slog.LevelDebug, f, a) }

func (l badgerLog) say(level slog.Level, f string, a []any) {
	if l.log.Enabled(context.Background(), level) {
		l.log.Log(context.Background(), level, "badger", "said", fmt.Sprintf(f, a...))
	}
}
