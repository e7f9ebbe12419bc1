package setupcmd

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

// atLogin has systemd, or launchd on a Mac, start the daemon when the wearer
// logs in.
func (s *settingUp) atLogin(*serve.Client) error {
	later := func() {
		if !hasLogin(s.App, runtime.GOOS) {
			s.done.Skipped = append(s.done.Skipped, "locket setup --at-login")
		}
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		if s.o.atLogin {
			return cli.Usagef("--at-login: this is for systemd on Linux, and for launchd on a Mac")
		}
		return nil
	}
	if !s.o.atLogin {
		if !s.Talks {
			later()
			return nil
		}
		yes, err := s.Yes("\nStart Locket whenever you log in?")
		if err != nil {
			return err
		}
		if !yes {
			later()
			return nil
		}
	}
	file, now, err := s.App.StartsAtLogin()
	if err != nil {
		return fmt.Errorf("--at-login: %w", err)
	}
	s.done.AtLogin = file
	s.Tell("Locket starts with your next login: %s\nTo start it now: %s\n", file, now)
	return nil
}

// hasLogin reports whether the system's manager starts a program on this home; it may
// start another home instead, as there is one file for all of a user's.
func hasLogin(a *cli.App, system string) bool {
	file, err := a.LoginFile(system)
	if err != nil {
		return false
	}
	text, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(text), cli.LoginArgument(system, a.Settings.Home))
}
