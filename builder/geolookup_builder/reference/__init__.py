"""What a country code implies: names, numbers, currency and zone, as tables with their maker."""
