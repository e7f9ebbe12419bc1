package store

import (
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
