package egress

import "net/netip"

// special lists blocks inside the unicast ranges that lead to no public host, or that hide another address (IANA's special-purpose
// registries for IPv4 and IPv6).
var special = func() []netip.Prefix {
	var all []netip.Prefix
	for _, p := range []string{
		"0.0.0.0/8",       // this network
		"100.64.0.0/10",   // carriers' and clouds' own
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"192.88.99.0/24",  // 6to4 relays
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"240.0.0.0/4",     // reserved, and broadcast
		"2001::/23",       // protocol assignments, Teredo among them
		"2001:db8::/32",   // documentation
		"2002::/16",       // 6to4: an IPv4 address inside
		"3fff::/20",       // documentation
	} {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}()

// globalIPv6 is the block that is allocated to public hosts. NAT64, IPv4 inside IPv6, unique local and link-local addresses lie
// outside it.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// Public reports whether an address belongs to a host on the public internet.
func Public(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Is6() && !globalIPv6.Contains(addr) {
		return false
	}
	for _, p := range special {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}
