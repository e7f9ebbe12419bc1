package config

import (
	"path/filepath"
	"strings"
	"time"
)

// Backup has the daemon make scheduled backups; with an empty To there are none.
type Backup struct {
	To             string   `toml:"to"`                          // a folder, or s3://BUCKET/PREFIX; locket backup must have made the first backup there
	Every          Duration `toml:"every"`                       // from the end of one backup to the next
	PassphraseFile string   `toml:"passphrase_file" kind:"path"` // with the backup's passphrase
	WithoutVault   bool     `toml:"without_vault"`               // the values of the vault stay sealed for this node
}

// LeastBackup is the minimum time between two backups, because each of them reads
// everything.
const LeastBackup = 10 * time.Minute

func (l *Loaded) checkBackup() error {
	c := &l.Backup
	switch {
	case c.To == "":
		return nil
	case !filepath.IsAbs(c.To) && !strings.HasPrefix(c.To, "s3://"):
		return l.wrong("backup.to", "%q: want an absolute path of a folder, or s3://BUCKET/PREFIX", c.To)
	case c.PassphraseFile == "":
		return l.wrong("backup.to", "is set, and backup.passphrase_file is not: both are needed")
	case c.Every.Std() < LeastBackup:
		return l.wrong("backup.every", "%q: want %s or more", c.Every, LeastBackup)
	}
	return nil
}
