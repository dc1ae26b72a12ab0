package otlp

const productEventName = "svc.product_event.name"
