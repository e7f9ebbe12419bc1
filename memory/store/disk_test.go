package store

import (
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4/options"
)

// TestBadgerIsSetUp checks settings whose absence no other test would notice: the page cache
// survives a kill, and sealed values hide what is not encrypted.
func TestBadgerIsSetUp(t *testing.T) {
	o := open(t, t.TempDir()).db.Opts()
	if !o.SyncWrites || len(o.EncryptionKey) != 32 || o.ChecksumVerificationMode != options.OnBlockRead {
		t.Errorf("synced %v, key of %d bytes, checksums %v", o.SyncWrites, len(o.EncryptionKey), o.ChecksumVerificationMode)
	}
	if o.ValueThreshold <= maxValue {
		t.Errorf("values over %d bytes go to the value log", o.ValueThreshold)
	}
}

// A folder that can't be written is one short error, and Badger's lines about it are not logged as well.
func TestUnwritableFolder(t *testing.T) {
	var log strings.Builder
	l := badgerLog{slog.New(slog.NewTextHandler(&log, nil))}
	l.Errorf("Received err: %v. Cleaning up...", fs.ErrPermission)
	l.Errorf("Got error: %v for id: %d\n", fs.ErrPermission, 1)
	if log.Len() > 0 {
		t.Error(log.String())
	}
	if l.Errorf("the value log is %s", "torn"); !strings.Contains(log.String(), "torn") {
		t.Error("another error was not logged")
	}
	said := errors.New("cannot create memtable err: newMemTable err: open records/00001.mem: permission denied\nunable to open: records/00001.mem")
	if err := openError("records", said); err.Error() != "store: open records: permission denied" || !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if err := openError("records", errors.New("torn")); err.Error() != "store: open records: torn" {
		t.Error(err)
	}
}
