package carry

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// What the node refuses for good counts as answered once it is quarantined on disk. If it can't be,
// the device is to keep it.
func TestRefused(t *testing.T) {
	s, _, err := spool.Open(filepath.Join(t.TempDir(), "spool"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	told := 0
	p := &publisher{report: &Report{}, stored: map[*wear.Receipt]wire.Message{}, unkept: map[*wear.Receipt]error{}, tell: func(Note) { told++ }}
	c := &Conn{out: p}
	refuse := func(seq uint64) error {
		r := &wear.Receipt{ID: memory.EventID{Device: "pin", Boot: StoredBit, Seq: seq}}
		p.stored[r] = &wire.Words{Header: wire.Header{Boot: StoredBit, Seq: seq}, Text: "what was said"}
		p.answered(r, fmt.Errorf("%w: text: range", wear.ErrRefused))
		return c.putBy([]*wear.Receipt{r}, nil)
	}
	if err := refuse(1); !errors.Is(err, wear.ErrRefused) || told != 1 {
		t.Errorf("without a spool: %v, told %d times", err, told)
	}
	p.spool = s
	if err := refuse(2); !errors.Is(err, wear.ErrRefused) || s.Len() != 0 {
		t.Errorf("without a key: %v", err)
	}
	if err := s.SetKey(seal.NewIdentity().Recipient().String()); err != nil {
		t.Fatal(err)
	}
	if err := refuse(3); err != nil || s.Len() != 1 || s.Due() != 0 {
		t.Errorf("%v, %d are kept, %d are due", err, s.Len(), s.Due())
	}
	if p.report.Refused != 3 || len(p.stored)+len(p.unkept) != 0 {
		t.Errorf("%+v, %d, %d", p.report, len(p.stored), len(p.unkept))
	}
}
