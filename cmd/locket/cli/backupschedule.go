package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/config"
)

// NeverBackUp is the value of --every that ends the schedule.
const NeverBackUp = "never"

func ReadBackupEvery(s string) (config.Duration, error) {
	d, err := config.ParseDuration(s)
	switch {
	case err != nil:
		return 0, Usagef("--every %q: want an interval, such as 12h or 1d, or never", s)
	case d.Std() < config.LeastBackup:
		return 0, Usagef("--every %s: want %s or more", s, config.Duration(config.LeastBackup))
	}
	return d, nil
}

// BackupSchedule returns the settings with which the daemon repeats the backup, or nil if it is not
// repeated. Options that o leaves open are filled in from an earlier schedule for the same place.
func (a *App) BackupSchedule(dir string, o *BackupOptions) (map[string]any, error) {
	if o.Every == "" {
		return nil, nil
	}
	d, err := ReadBackupEvery(o.Every)
	if err != nil {
		return nil, err
	}
	l, err := a.Load()
	if err != nil {
		return nil, err
	}
	if err := editable(l); err != nil {
		return nil, err
	}
	schedule := map[string]any{"to": dir, "every": d.String()}
	if !strings.Contains(dir, "://") {
		if schedule["to"], err = filepath.Abs(dir); err != nil {
			return nil, err
		}
	}
	if schedule["to"] == l.Backup.To {
		o.File, o.WithoutVault = cmp.Or(o.File, l.Backup.PassphraseFile), o.WithoutVault || l.Backup.WithoutVault
	}
	if o.File == "" {
		return nil, Usagef("--every needs --passphrase-file: the daemon can't ask")
	}
	if schedule["passphrase_file"], err = filepath.Abs(o.File); err != nil {
		return nil, err
	}
	if o.WithoutVault {
		schedule["without_vault"] = true
	}
	return schedule, nil
}

// editable refuses a schedule that is not set in the configuration file.
func editable(l *config.Loaded) error {
	for _, key := range []string{"backup.to", "backup.every", "backup.passphrase_file", "backup.without_vault"} {
		if o := l.Origin(key); o.Kind == config.FromEnv || o.Kind == config.FromFlag {
			return fmt.Errorf("--every: %s is set by %s; change it there", key, o)
		}
	}
	return nil
}

// EndBackups removes the schedule from the settings. If dir is not empty, the schedule must be for
// that place.
func (a *App) EndBackups(dir string) error {
	l, err := a.Load()
	if err != nil {
		return err
	}
	if err := editable(l); err != nil {
		return err
	}
	to := l.Backup.To
	if to == "" {
		return errors.New("--every never: there is no schedule")
	}
	if dir != "" && dir != to {
		if abs, err := filepath.Abs(dir); err != nil || abs != to {
			return fmt.Errorf("--every never: the schedule is for %s", backup.ShownName(to))
		}
	}
	if err := a.SetTable("backup", nil); err != nil {
		return err
	}
	return a.Print(map[string]string{"ended": backup.ShownName(to)}, func(w io.Writer) {
		fmt.Fprintf(w, "Scheduled backups end with the daemon's next start: if one is running, restart it. The backup in %s stays.\n", backup.ShownName(to))
	})
}
