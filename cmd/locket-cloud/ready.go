package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// readyCommand checks a relay's health where no other program can, such as in the health check of
// an image.
func (a *app) readyCommand() *cobra.Command {
	url := "http://127.0.0.1:7440"
	cmd := &cobra.Command{
		Use: "ready [--url URL]", Short: "Check whether a relay is ready", Args: nothing,
		Long: "Asks a relay's /readyz. The exit code is 0 if the relay and its store answer, and otherwise 1.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.ready(cmd.Context(), url) },
	}
	cmd.Flags().StringVar(&url, "url", url, "`URL` of the relay")
	return cmd
}

func (a *app) ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("%w: --url: %w", errUsage, err)
	}
	// A transport of its own, so that no proxy of the environment is used.
	client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{}).DialContext, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the relay: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(res.Body, 512)) // as much of the answer as came
		return fmt.Errorf("the relay is not ready: %s %s", res.Status, why)
	}
	return a.print(map[string]bool{"ready": true}, "The relay is ready.")
}
