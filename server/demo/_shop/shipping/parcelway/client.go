// Package parcelway asks the carrier for its rates.
package parcelway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Client is a client of Parcelway.
type Client struct{ http http.Client }

// Rates returns the rates of a country in cents.
func (c *Client) Rates(ctx context.Context, country string) (rates map[string]int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.parcelway.example/v3/rates?country="+country, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("parcelway answers %s", res.Status)
	}
	err = json.NewDecoder(res.Body).Decode(&rates)
	return rates, err
}
