package setupcmd

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

// atLogin makes systemd, or launchd on a Mac, start the daemon when the wearer logs in.
func (s *settingUp) atLogin(*serve.Client) error {
	later := func() {
		if !hasLogin(s.App, runtime.GOOS) {
			s.done.Skipped = append(s.done.Skipped, "locket setup --at-login")
		}
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		if s.o.atLogin {
			return cli.Usagef("--at-login works only with systemd on Linux and with launchd on a Mac")
		}
		return nil
	}
	if !s.o.atLogin {
		if !s.IsInteractive {
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
	s.Tell("Locket will start at your next login: %s\nTo start it now: %s\n", file, now)
	return nil
}

// hasLogin reports whether the service manager starts a program with this home. It may start
// another home instead, because all homes of a user share one file.
func hasLogin(a *cli.App, system string) bool {
	file, err := a.LoginFile(system)
	if err != nil {
		return false
	}
	text, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(text), cli.LoginArgument(system, a.Settings.Home))
}
