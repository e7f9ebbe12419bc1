//go:build manual

package manual

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Commands returns the commands to add to a program: manual DIR, which writes a page of section 1
// into DIR for each command of the program. The pages bear the date in SOURCE_DATE_EPOCH, in
// seconds since 1970 (reproducible-builds.org/specs/source-date-epoch).
func Commands() []*cobra.Command {
	return []*cobra.Command{{
		Use: "manual DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
			if err != nil {
				return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
			}
			root, date := c.Root(), time.Unix(seconds, 0).UTC()
			root.DisableAutoGenTag = true // the tag would contain today's date
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "Locket", Manual: "Locket"}, args[0])
		},
	}}
}
