package nodump

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The test runs itself again, because these settings apply to the whole process.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "protected" {
		tell(Protect())
		tell(Allow())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func tell(err error) {
	var l unix.Rlimit
	get := unix.Getrlimit(unix.RLIMIT_CORE, &l)
	dumpable, prctl := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	fmt.Println(dumpable, l.Cur == 0, l.Cur == l.Max, err, get, prctl)
}

func TestProtect(t *testing.T) {
	// A limit of one block, which any user may set, so that 0 is a change.
	out, err := exec.Command("sh", "-c", `ulimit -c 1 2>/dev/null; exec "$0" protected`, os.Args[0]).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "0 true ") || !strings.HasPrefix(lines[1], "1 ") || strings.Count(string(out), "<nil> <nil> <nil>") != 2 {
		t.Errorf("dumpable, no size, the most, errors:\n%s", out)
	}
	if !strings.Contains(lines[1], " true <nil>") {
		t.Errorf("allowed again, and not up to the limit: %s", lines[1])
	}
}
