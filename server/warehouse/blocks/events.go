package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// SessionEvents are the columns of the table session_events.
type SessionEvents struct {
	native.Block

	OrgID              *native.LowCardinality
	SessionID          *native.String
	Timestamp          *native.Int64
	Seq                *native.UInt32
	Type               *native.LowCardinality
	URL                *native.String
	TraceID            *native.String
	Level              *native.LowCardinality
	Message            *native.String
	TargetSelector     *native.String
	TargetText         *native.String
	NetMethod          *native.LowCardinality
	NetURL             *native.String
	NetStatus          *native.UInt16
	NetDurationMs      *native.UInt32
	ErrorStack         *native.String
	VisitorID          *native.String
	UserID             *native.String
	GroupID            *native.String
	Attributes         *native.Map
	ResourceAttributes *native.Map
}

func newSessionEvents() *SessionEvents {
	t := &SessionEvents{
		OrgID:              native.NewLowCardinality(),
		SessionID:          native.NewString(),
		Timestamp:          native.NewDateTime64(),
		Seq:                native.NewUInt32(),
		Type:               native.NewLowCardinality(),
		URL:                native.NewString(),
		TraceID:            native.NewString(),
		Level:              native.NewLowCardinality(),
		Message:            native.NewString(),
		TargetSelector:     native.NewString(),
		TargetText:         native.NewString(),
		NetMethod:          native.NewLowCardinality(),
		NetURL:             native.NewString(),
		NetStatus:          native.NewUInt16(),
		NetDurationMs:      native.NewUInt32(),
		ErrorStack:         native.NewString(),
		VisitorID:          native.NewString(),
		UserID:             native.NewString(),
		GroupID:            native.NewString(),
		Attributes:         native.NewMap(),
		ResourceAttributes: native.NewMap(),
	}
	t.Fields = []native.Field{
		{Name: "OrgId", Column: t.OrgID},
		{Name: "SessionId", Column: t.SessionID},
		{Name: "Timestamp", Column: t.Timestamp},
		{Name: "Seq", Column: t.Seq},
		{Name: "Type", Column: t.Type},
		{Name: "Url", Column: t.URL},
		{Name: "TraceId", Column: t.TraceID},
		{Name: "Level", Column: t.Level},
		{Name: "Message", Column: t.Message},
		{Name: "TargetSelector", Column: t.TargetSelector},
		{Name: "TargetText", Column: t.TargetText},
		{Name: "NetMethod", Column: t.NetMethod},
		{Name: "NetUrl", Column: t.NetURL},
		{Name: "NetStatus", Column: t.NetStatus},
		{Name: "NetDurationMs", Column: t.NetDurationMs},
		{Name: "ErrorStack", Column: t.ErrorStack},
		{Name: "VisitorId", Column: t.VisitorID},
		{Name: "UserId", Column: t.UserID},
		{Name: "GroupId", Column: t.GroupID},
		{Name: "Attributes", Column: t.Attributes},
		{Name: "ResourceAttributes", Column: t.ResourceAttributes},
	}
	return t
}

// ProductEvents are the columns of the table product_events.
type ProductEvents struct {
	native.Block

	OrgID              *native.LowCardinality
	Name               *native.LowCardinality
	Timestamp          *native.Int64
	Kind               *native.LowCardinality
	Source             *native.LowCardinality
	VisitorID          *native.String
	UserID             *native.String
	GroupID            *native.String
	SessionID          *native.String
	ServiceName        *native.LowCardinality
	URL                *native.String
	Host               *native.LowCardinality
	PagePath           *native.String
	Attributes         *native.Map
	ResourceAttributes *native.Map
}

func newProductEvents() *ProductEvents {
	t := &ProductEvents{
		OrgID:              native.NewLowCardinality(),
		Name:               native.NewLowCardinality(),
		Timestamp:          native.NewDateTime64(),
		Kind:               native.NewLowCardinality(),
		Source:             native.NewLowCardinality(),
		VisitorID:          native.NewString(),
		UserID:             native.NewString(),
		GroupID:            native.NewString(),
		SessionID:          native.NewString(),
		ServiceName:        native.NewLowCardinality(),
		URL:                native.NewString(),
		Host:               native.NewLowCardinality(),
		PagePath:           native.NewString(),
		Attributes:         native.NewMap(),
		ResourceAttributes: native.NewMap(),
	}
	t.Fields = []native.Field{
		{Name: "OrgId", Column: t.OrgID},
		{Name: "Name", Column: t.Name},
		{Name: "Timestamp", Column: t.Timestamp},
		{Name: "Kind", Column: t.Kind},
		{Name: "Source", Column: t.Source},
		{Name: "VisitorId", Column: t.VisitorID},
		{Name: "UserId", Column: t.UserID},
		{Name: "GroupId", Column: t.GroupID},
		{Name: "SessionId", Column: t.SessionID},
		{Name: "ServiceName", Column: t.ServiceName},
		{Name: "Url", Column: t.URL},
		{Name: "Host", Column: t.Host},
		{Name: "PagePath", Column: t.PagePath},
		{Name: "Attributes", Column: t.Attributes},
		{Name: "ResourceAttributes", Column: t.ResourceAttributes},
	}
	return t
}
