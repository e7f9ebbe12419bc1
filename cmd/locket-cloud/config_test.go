package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Settings come from a file, the environment and the command line. The later overrides the earlier,
// and anything that is not a setting is refused with its place.
func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cloud.toml")
	for _, c := range []struct {
		toml, want string
		env, args  []string
	}{
		{toml: "data = \"/srv\"\nquota-bytes = 5\nauthority = [\"a\", \"b\"]\nopen = true", want: "/srv 5 [a b] true"},
		{toml: "data = \"/srv\"\nquota-bytes = 5", env: []string{"LOCKET_CLOUD_QUOTA_BYTES=6", "PATH=x"}, want: "/srv 6 [] false"},
		{toml: "data = \"/srv\"", env: []string{"LOCKET_CLOUD_DATA=/env"}, args: []string{"--data", "/flag"}, want: "/flag 0 [] false"},
		{env: []string{"LOCKET_CLOUD_AUTHORITY=a,b"}, args: []string{"--authority", "c"}, want: " 0 [c] false"},
		{env: []string{"LOCKET_CLOUD_AUTHORITY=a,b"}, want: " 0 [a b] false"},
		{toml: "dta = \"x\"", want: `cloud.toml: "dta" is not a setting`},
		{toml: "quota-byte = 5", want: "Did you mean: quota-bytes?"},
		{toml: "quota-bytes = \"many\"", want: "cloud.toml: quota-bytes: "},
		{toml: "data = [\"a\", \"b\"]", want: "data takes one value"},
		{toml: "config = \"x\"", want: `"config" is not a setting`},
		{toml: "[serve]\ndata = \"x\"", want: `"serve" is not a setting`},
		{toml: "data = \"x\"\nopen = = 3", want: "cloud.toml:2: "},
		{env: []string{"LOCKET_CLOUD_DTA=x"}, want: "LOCKET_CLOUD_DTA is not a setting"},
		{env: []string{"LOCKET_CLOUD_QUOTA_BYTES=x"}, want: "LOCKET_CLOUD_QUOTA_BYTES: "},
	} {
		args := c.args
		if c.toml != "" {
			if err := os.WriteFile(file, []byte(c.toml), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--config", file)
		}
		var f serveFlags
		cmd := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
		f.where.flags(cmd)
		cmd.Flags().Int64Var(&f.quota.Bytes, "quota-bytes", 0, "")
		cmd.Flags().StringArrayVar(&f.authorities, "authority", nil, "")
		cmd.Flags().BoolVar(&f.open, "open", false, "")
		settings(cmd, func() []string { return c.env })
		cmd.SetArgs(args)
		got := ""
		if err := cmd.Execute(); err != nil {
			got = err.Error()
		} else {
			got = strings.Join([]string{f.data, strconv.FormatInt(f.quota.Bytes, 10), "[" + strings.Join(f.authorities, " ") + "]", strconv.FormatBool(f.open)}, " ")
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q %q %q: %s, want %s", c.toml, c.env, c.args, got, c.want)
		}
	}
}
