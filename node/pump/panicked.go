package pump

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// A panic ends the process, because the state that it left in memory is unknown. The entry
// that caused it would come again after each start. So its number is written to a file
// before the process ends, and the next pump puts the entry into quarantine unread.

// errPanicked is the reason why such an entry is in quarantine.
var errPanicked = errors.New("a panic while it was processed ended the node")

// readPanicked reads the number of the entry at which the last pump panicked; 0: there was
// none. A file that can't be read counts as none.
func (p *Pump) readPanicked() {
	b, err := os.ReadFile(p.c.PanicFile)
	if err == nil {
		p.panicked, err = strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.c.Log.Warn("which entry ended the node is not known", "error", err)
	}
}

// notePanic writes the number to the file. The log contains nothing of the entry.
func (p *Pump) notePanic(seq uint64) {
	p.c.Log.Error("a panic ends the node: this entry of the journal is set aside at the next start", "entry", seq)
	if err := atomicfile.Write(p.c.PanicFile, strconv.AppendUint(nil, seq, 10)); err != nil {
		p.c.Log.Error("that could not be saved, so the entry is read again", "error", err)
	}
}

// forgetPanic removes the file once its entry is in quarantine.
func (p *Pump) forgetPanic() {
	p.panicked = 0
	if err := os.Remove(p.c.PanicFile); err != nil {
		p.c.Log.Warn("the note of the entry that ended the node could not be removed", "error", err)
	}
}
