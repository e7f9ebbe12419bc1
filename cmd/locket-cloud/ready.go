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

// readyCommand is for who watches a relay where there is no other program to ask
// it: the health check of an image.
func (a *app) readyCommand() *cobra.Command {
	url := "http://127.0.0.1:7440"
	cmd := &cobra.Command{
		Use: "ready [--url URL]", Short: "Ask a relay whether it serves", Args: nothing,
		Long: "Asks a relay's /readyz. It exits with 0 where the relay answers and its store does, and else with 1.",
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
	// Of its own, so that no proxy of the environment is asked in its place.
	client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{}).DialContext, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the relay: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(res.Body, 512)) // what came of it
		return fmt.Errorf("the relay does not serve: %s %s", res.Status, why)
	}
	return a.print(map[string]bool{"ready": true}, "The relay serves.")
}
