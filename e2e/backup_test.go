package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/internal/testing/s3test"
)

// A home is backed up twice, checked in a home with other keys, and restored with its vault. What
// was forgotten leaves the backup, and damage is named.
func TestBackup(t *testing.T) {
	h := newHome(t)
	tmp, scratch := t.TempDir(), t.TempDir()
	h.env = []string{"TMPDIR=" + scratch} // other programs check backups on this machine, too
	pass, dir := filepath.Join(tmp, "pass"), filepath.Join(tmp, "stick")
	if err := os.WriteFile(pass, []byte("correct horse battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type written struct {
		Records int `json:"records"`
		New     int `json:"new_pieces"`
		Gone    int `json:"removed_pieces"`
	}
	h.must("add", "I park the car on level 3")
	h.must("add", "The alarm code is 4711")
	var first, next written
	h.mustJSON(&first, "backup", dir, "--passphrase-file", pass)
	if first.Records == 0 || first.New == 0 {
		t.Fatalf("%+v", first)
	}
	h.must("add", "Grace lives in Porto")
	h.must("forget", "--query", "park the car", "--yes")
	h.mustJSON(&next, "backup", dir, "--passphrase-file", pass)
	if next.New == 0 || next.Gone == 0 {
		t.Errorf("%+v", next)
	}
	if out := h.must("backup", "check", dir, "--passphrase-file", pass); !strings.Contains(out, "after a restore, 0 are missing") {
		t.Error(out)
	}
	lock, err := filelock.Take(filepath.Join(dir, "lock")) // as another command does that uses the backup
	if err != nil {
		t.Fatal(err)
	}
	if _, told, code := h.try("backup", "check", dir, "--passphrase-file", pass); code == 0 || !strings.Contains(told, "Another process writes or reads this backup.") {
		t.Errorf("exit %d: %s", code, told)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	if found := filesHold(t, dir, []string{"Porto", "4711", "level 3"}); len(found) > 0 {
		t.Error(found)
	}
	other := newHome(t) // an empty home
	other.must("backup", "restore", dir, "--passphrase-file", pass)
	if out := other.must("search", "where does Grace live"); !strings.Contains(out, "Porto") {
		t.Error(out)
	}
	if out := other.must("export"); strings.Contains(out, "level 3") {
		t.Error("what was forgotten came back")
	}
	secret := ""
	for line := range strings.Lines(other.must("vault", "--json")) {
		var m struct {
			ID string `json:"id"`
		}
		mustParse(t, line, &m)
		secret = m.ID
	}
	if out := other.must("vault", "show", secret); !strings.Contains(out, "4711") {
		t.Error(out)
	}
	// The index is damaged, and its copy is read.
	index := filepath.Join(dir, "index")
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := h.try("backup", "check", dir, "--passphrase-file", pass); code != 1 || !strings.Contains(errs, "index") || !strings.Contains(errs, "nothing is lost") {
		t.Error(code, errs)
	}
	copied := newHome(t)
	copied.must("backup", "restore", dir, "--passphrase-file", pass)
	if out := copied.must("search", "where does Grace live"); !strings.Contains(out, "Porto") {
		t.Error(out)
	}
	if err := os.WriteFile(index, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	// One byte of one piece is changed.
	pieces, err := filepath.Glob(filepath.Join(dir, "pieces", "*", "*"))
	if err != nil || len(pieces) == 0 {
		t.Fatal(pieces, err)
	}
	// The largest one has the memories; the others are the header and the end of the export, without
	// which nothing is lost. Names of pieces, and so their order, differ in each run.
	size := func(file string) int64 {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	slices.SortFunc(pieces, func(a, b string) int { return cmp.Compare(size(b), size(a)) })
	b, err := os.ReadFile(pieces[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(pieces[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := h.try("backup", "check", dir, "--passphrase-file", pass); code != 1 || !strings.Contains(errs, filepath.Base(pieces[0])) {
		t.Error(code, errs)
	}
	// Without a flag nothing of it is restored; with it, what is in the other pieces.
	last := newHome(t)
	if _, errs, code := last.try("backup", "restore", dir, "--passphrase-file", pass); code != 1 || !strings.Contains(errs, "backup restore \""+dir+"\" --damaged") {
		t.Error(code, errs)
	}
	var done struct {
		Taken   int      `json:"taken"`
		Refused int      `json:"refused"`
		Damaged []string `json:"damaged_pieces"`
	}
	last.mustJSON(&done, "backup", "restore", dir, "--damaged", "--passphrase-file", pass)
	if len(done.Damaged) != 1 || !strings.HasSuffix(done.Damaged[0], filepath.Base(pieces[0])) || done.Taken >= next.Records || done.Refused > 0 {
		t.Errorf("%+v", done)
	}
	if err := os.Remove(pieces[0]); err != nil {
		t.Fatal(err)
	}
	if out := last.must("backup", "restore", dir, "--damaged", "--passphrase-file", pass); !strings.Contains(out, "1 piece of the backup is damaged") {
		t.Error(out)
	}
}

// A bucket holds a backup like a folder. With --every the daemon continues it, reports the result,
// and does not begin a backup where there is none.
func TestBackupBySchedule(t *testing.T) {
	h := newHome(t)
	s := s3test.New(t)
	pass := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(pass, []byte("correct horse battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := "s3://bucket/locket?endpoint=" + s.URL
	h.must("add", "The alarm code is 4711")
	if _, errs, code := h.try("backup", to, "--every", "1d"); code != 2 || !strings.Contains(errs, "--passphrase-file") {
		t.Error(code, errs)
	}
	if out := h.must("backup", to, "--every", "1d", "--passphrase-file", pass); !strings.Contains(out, "every 1d") {
		t.Error(out)
	}
	if out := h.must("backup", to, "--every", "2d"); !strings.Contains(out, "every 2d") { // replaces the other one
		t.Error(out)
	}
	h.must("add", "Grace lives in Porto")
	byHand := time.Now()
	h.start()
	type status struct {
		Backup struct {
			To       string
			At       time.Time
			Vault    bool
			Failures int
			Error    string
		}
	}
	var st status
	h.eventually("a backup", func(out string) bool {
		st = status{}
		mustParse(t, out, &st)
		return st.Backup.At.After(byHand) || st.Backup.Failures > 0
	}, "status", "--json")
	if st.Backup.To != "s3://bucket/locket" || st.Backup.Failures > 0 || !st.Backup.Vault {
		t.Fatalf("%+v", st)
	}
	if out := h.must("status"); !strings.Contains(out, "backup      s3://bucket/locket: last ") {
		t.Error(out)
	}
	if out := h.must("backup", "check", to, "--passphrase-file", pass); !strings.Contains(out, "after a restore, 0 are missing") {
		t.Error(out)
	}
	other := newHome(t)
	other.must("backup", "restore", to, "--passphrase-file", pass)
	if out := other.must("search", "where does Grace live"); !strings.Contains(out, "Porto") {
		t.Error(out)
	}
	for name := range s.Objects() {
		s.Set(name, nil)
	}
	h.d.kill()
	if err := os.Remove(filepath.Join(h.dir, "backup.json")); err != nil {
		t.Fatal(err)
	}
	h.start()
	if out := h.eventually("a failure", func(out string) bool { return strings.Contains(out, "failed since") }, "status"); !strings.Contains(out, "there is no backup here") {
		t.Error(out)
	}
	if len(s.Objects()) > 0 {
		t.Error("a backup was begun where there was none")
	}
}
