package homecmd

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

// If something is parked, doctor does not say that nothing is wrong.
func TestDoctorReportsParked(t *testing.T) {
	var out strings.Builder
	x := examined{DoctorReport: serve.DoctorReport{OK: true, Findings: []serve.Finding{{Check: "ears", Level: serve.LevelWarning, Detail: "whisper.cpp failed at 3"}}}}
	showDoctor(new(cli.App), &out, &x, false)
	if got := out.String(); strings.Contains(got, "Nothing is wrong.") {
		t.Error(got)
	}
}
